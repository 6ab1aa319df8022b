module slotop/nvmllayout

go 1.26.7

require github.com/NVIDIA/go-nvml v0.13.4-1
