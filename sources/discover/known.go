// Package discover finds what on this host may be worth watching: the sockets that
// listen, who holds them, and what each answers when it is asked by the function
// that it is handed. It asks nobody who speaks another protocol, sends no key, and
// decides what of the found things is opened, so that nothing counts twice.
package discover

import "slices"

// software is a program that listens on this host, by the words that its command
// line has, and the ports that it takes unless told otherwise.
type software struct {
	name  string
	words []string
	ports []int
}

func (s software) isCalled(word string) bool { return slices.Contains(s.words, word) }

// served is what slotop may have something to read from, with the ports of each
// one's documentation and defaults.
var served = []software{
	{"vLLM", []string{"vllm"}, []int{8000}},
	{"SGLang", []string{"sglang"}, []int{30000}},
	{"TGI", []string{"text-generation-router", "text-generation-launcher", "text-generation-server"}, []int{80, 3000, 8080}},
	{"TEI", []string{"text-embeddings-router"}, []int{80, 3000, 9000}},
	{"llama.cpp", []string{"llama-server", "llama_cpp", "llamafile"}, []int{8080}},
	{"Ollama", []string{"ollama"}, []int{11434}},
	{"LM Studio", []string{"lm-studio", "lm studio", "lms", "llmster"}, []int{1234}},
	{"TabbyAPI", []string{"tabbyapi"}, []int{5000}},
	{"TensorRT-LLM", []string{"trtllm-serve", "tensorrt_llm"}, []int{8000}},
	{"Triton", []string{"tritonserver"}, []int{8000, 8002}},
	{"Dynamo", []string{"dynamo", "dynamo-run"}, []int{8000, 8081}},
	{"LMDeploy", []string{"lmdeploy"}, []int{23333}},
	{"Aphrodite", []string{"aphrodite"}, []int{2242}},
	{"Xinference", []string{"xinference", "xinference-local", "xinference-worker", "xinference-supervisor"}, []int{9997}},
	{"KServe", []string{"kserve", "huggingfaceserver"}, []int{8080}},
	{"Ray", []string{"ray", "dashboard_agent", "ray-dashboard"}, []int{8080}},
	{"MLC-LLM", []string{"mlc_llm"}, []int{8000}},
	{"llm-d-inference-sim", []string{"llm-d-inference-sim"}, []int{8000}},

	{"LiteLLM", []string{"litellm"}, []int{4000}},
	{"Bifrost", []string{"bifrost-http", "bifrost"}, []int{8080}},
	{"Envoy AI Gateway", []string{"aigw", "extproc"}, []int{1064, 1975}},
	{"llm-d router", []string{"epp", "llm-d-router"}, []int{9090}},
	{"SGLang gateway", []string{"sglang_router", "sglang-router", "smg"}, []int{29000, 30000}},
	{"production-stack router", []string{"vllm-router", "vllm_router"}, []int{8001}},
	{"AIBrix gateway", []string{"aibrix"}, []int{8080}},
	{"Kong", []string{"kong"}, []int{8001, 8100}},
	{"Portkey", []string{"portkey"}, []int{8787}},
	{"Higress", []string{"higress"}, []int{15020}},
	{"Olla", []string{"olla"}, []int{40114}},
	{"GoModel", []string{"gomodel"}, []int{8080}},
	{"llama-swap", []string{"llama-swap"}, []int{8080}},

	{"Prometheus", []string{"prometheus"}, []int{9090}},
	{"VictoriaMetrics", []string{"victoria-metrics", "victoria-metrics-prod", "vmselect", "vmsingle"}, []int{8428, 8481}},
	{"Thanos", []string{"thanos"}, []int{10902}},
	{"Mimir", []string{"mimir"}, []int{9009}},

	{"dcgm-exporter", []string{"dcgm-exporter"}, []int{9400}},
	{"nvidia_gpu_exporter", []string{"nvidia_gpu_exporter"}, []int{9835}},
	{"AMD device-metrics-exporter", []string{"device-metrics-exporter", "amd-metrics-exporter", "gpuagent"}, []int{5000}},
	{"Intel XPU manager", []string{"xpumd", "xpumcli"}, []int{8889}},
	{"all-smi", []string{"all-smi"}, []int{9090}},
}

// others are programs that speak another protocol, or nothing that slotop reads.
// What a stranger says to them ends up in their logs, and may count as an attack.
var others = []software{
	{"sshd", []string{"sshd", "dropbear", "sshd-session"}, []int{22}},
	{"FTP", []string{"vsftpd", "proftpd"}, []int{20, 21}},
	{"telnet", []string{"telnetd"}, []int{23}},
	{"mail", []string{"master", "postfix", "exim4", "exim", "sendmail", "dovecot"}, []int{25, 110, 143, 465, 587, 993, 995}},
	{"DNS", []string{"named", "unbound", "dnsmasq", "systemd-resolved", "systemd-resolve", "coredns"}, []int{53, 853, 5353}},
	{"Kerberos", []string{"krb5kdc", "kadmind"}, []int{88, 464, 749}},
	{"RPC", []string{"rpcbind", "rpc.statd", "rpc.mountd"}, []int{111, 2049}},
	{"Samba", []string{"smbd", "nmbd", "winbindd"}, []int{135, 139, 445}},
	{"LDAP", []string{"slapd"}, []int{389, 636}},
	{"printing", []string{"cupsd", "lpd"}, []int{515, 631}},
	{"rsync", []string{"rsync"}, []int{873}},
	{"SQL Server", []string{"sqlservr"}, []int{1433}},
	{"Oracle", []string{"tnslsnr"}, []int{1521}},
	{"ZooKeeper", nil, []int{2181, 2888, 3888}},
	{"Docker", []string{"dockerd", "containerd"}, []int{2375, 2376}},
	{"etcd", []string{"etcd"}, []int{2379, 2380}},
	{"iSCSI", []string{"iscsid", "tgtd"}, []int{3260}},
	{"MySQL", []string{"mysqld", "mariadbd"}, []int{3306, 33060}},
	{"remote desktop", []string{"xrdp", "xorg", "xvnc", "x11vnc", "xtigervnc"}, []int{3389, 5900, 5901, 5902, 6000, 6001, 6010, 6011}},
	{"Erlang", []string{"epmd", "beam.smp", "beam"}, []int{4369}},
	{"adb", []string{"adb"}, []int{5037}},
	{"PostgreSQL", []string{"postgres", "postmaster", "pgbouncer"}, []int{5432, 6432}},
	{"AMQP", []string{"rabbitmq-server"}, []int{5671, 5672, 25672}},
	{"Redis", []string{"redis-server", "valkey-server", "redis-sentinel", "dragonfly"}, []int{6379, 16379, 26379}},
	{"Kubernetes", []string{"kubelet", "kube-apiserver", "kube-proxy", "kube-scheduler", "kube-controller", "kube-controller-manager", "k3s"}, []int{6443, 10250, 10256}},
	{"Ray's own", []string{"raylet", "gcs_server"}, nil},
	{"NATS", []string{"nats-server"}, []int{4222, 6222}},
	{"Cassandra", nil, []int{7000, 7001, 9042}},
	{"Kafka", nil, []int{9092}},
	{"Elasticsearch", nil, []int{9300}},
	{"memcached", []string{"memcached"}, []int{11211}},
	{"MongoDB", []string{"mongod", "mongos"}, []int{27017, 27018, 27019}},
	{"time", []string{"chronyd", "ntpd"}, []int{123, 323}},
}

// Ports are those on which something worth reading may listen, each once, in
// order: all that is tried where the system does not tell which sockets listen.
func Ports() []int {
	var all []int
	for _, s := range served {
		all = append(all, s.ports...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// usualAt names the software that is usually found at a port, "" for none.
func usualAt(table []software, port int) string {
	for _, s := range table {
		if slices.Contains(s.ports, port) {
			return s.name
		}
	}
	return ""
}

// called names the software that is known by one of the words, "" for none.
func called(table []software, words []string) string {
	for _, s := range table {
		if slices.ContainsFunc(words, s.isCalled) {
			return s.name
		}
	}
	return ""
}
