package serve

import (
	"crypto/ed25519"
	"crypto/rand"
	"encoding/pem"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/crypto/ssh"
)

// HostKey reads the server's own key, an OpenSSH or PEM private key that nobody else
// may read.
func HostKey(path string) (ssh.Signer, error) {
	info, err := os.Stat(path)
	if err != nil {
		return nil, fmt.Errorf("read the host key: %w", err)
	}
	if mode := info.Mode(); !mode.IsRegular() || mode.Perm()&0o077 != 0 {
		return nil, fmt.Errorf("host key %s may be read by others (mode %04o): chmod 600 %s", path, mode.Perm(), path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, fmt.Errorf("read the host key: %w", err)
	}
	signer, err := ssh.ParsePrivateKey(text)
	if locked := (*ssh.PassphraseMissingError)(nil); errors.As(err, &locked) {
		return nil, fmt.Errorf("host key %s has a passphrase, and nobody is there to type it", path)
	}
	if err != nil {
		return nil, fmt.Errorf("host key %s: it is no private key", path)
	}
	return signer, nil
}

// OwnHostKey is the key in a folder of the program's own state, made at the first
// use: those who look know the server by it from then on.
func OwnHostKey(dir string) (ssh.Signer, error) {
	path := filepath.Join(dir, "ssh_host_ed25519_key")
	signer, err := HostKey(path)
	if !errors.Is(err, fs.ErrNotExist) {
		return signer, err
	}
	if err := makeHostKey(dir, path); err != nil {
		return nil, fmt.Errorf("make the host key: %w", err)
	}
	return HostKey(path)
}

// makeHostKey writes a new key. It is written whole or not at all, and never over one
// that another process made meanwhile.
func makeHostKey(dir, path string) error {
	_, private, err := ed25519.GenerateKey(rand.Reader)
	if err != nil {
		return err
	}
	block, err := ssh.MarshalPrivateKey(private, "slotop serve")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		return err
	}
	part, err := os.CreateTemp(dir, ".ssh_host_key-*") // 0600
	if err != nil {
		return err
	}
	defer func() { _ = os.Remove(part.Name()) }()
	err = errors.Join(pem.Encode(part, block), part.Sync(), part.Close())
	if err != nil {
		return err
	}
	if err := os.Link(part.Name(), path); err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return nil
}
