package sessions

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"strings"
)

// A Parquet file of sessions is sealed: its key-value metadata holds the SHA-256
// of the file itself, taken with the digest's own 64 digits as zeros. A reader
// checks it before anything else. The format's own page checksums do not cover
// page headers and footer, and damage there goes unseen, changes values, or makes
// a library ask for more memory than there is, which no program survives.
const sealKey = "file_sha256"

// sealBlank stands where the digest will be.
var sealBlank = strings.Repeat("0", 2*sha256.Size)

// sealMark is what stands before the digest in the footer, in Thrift's compact
// protocol: a string field, its length, the key; a string field, the length of
// the value.
var sealMark = "\x18" + string(rune(len(sealKey))) + sealKey + "\x18" + string(rune(2*sha256.Size))

// footerMax bounds the footer of a file in bytes. A million sessions have one of
// about a thousandth of it.
const footerMax = 1 << 30

// tailSize is what ends a Parquet file: the footer's length and the magic.
const tailSize = 4 + len(parquetMagic)

// sealer passes a Parquet file on and seals it. Everything from hold on, which
// must include the footer, is kept until seal has put the digest in.
type sealer struct {
	to   io.Writer
	sum  hash.Hash
	held *bytes.Buffer
}

func newSealer(to io.Writer) *sealer { return &sealer{to: to, sum: sha256.New()} }

func (s *sealer) Write(p []byte) (int, error) {
	s.sum.Write(p)
	if s.held != nil {
		return s.held.Write(p)
	}
	return s.to.Write(p)
}

func (s *sealer) hold() { s.held = new(bytes.Buffer) }

func (s *sealer) seal() error {
	rest := s.held.Bytes()
	at := bytes.LastIndex(rest, []byte(sealMark+sealBlank))
	if at < 0 {
		return errors.New("the footer has no place for the checksum")
	}
	hex.Encode(rest[at+len(sealMark):], s.sum.Sum(nil))
	_, err := s.to.Write(rest)
	return err
}

// checkSeal reads a whole Parquet file and holds it against its seal.
func checkSeal(f io.ReaderAt, size int64) error {
	at, err := findSeal(f, size)
	if err != nil {
		return err
	}
	sum := sha256.New()
	want := make([]byte, len(sealBlank))
	_, err = io.Copy(sum, io.NewSectionReader(f, 0, at))
	if err == nil {
		_, err = f.ReadAt(want, at)
	}
	if err == nil {
		io.WriteString(sum, sealBlank)
		after := at + int64(len(sealBlank))
		_, err = io.Copy(sum, io.NewSectionReader(f, after, size-after))
	}
	if err != nil {
		return fmt.Errorf("%w\nhint: %s", err, damagedHint)
	}
	if hex.EncodeToString(sum.Sum(nil)) != string(want) {
		return errors.New("the content does not fit the file's own checksum\nhint: " + damagedHint)
	}
	return nil
}

// findSeal returns the offset of the digest.
func findSeal(f io.ReaderAt, size int64) (int64, error) {
	truncated := errors.New("the file stops short: a Parquet file ends in " + parquetMagic + "\nhint: " + damagedHint)
	if size < int64(len(parquetMagic)+tailSize) {
		return 0, truncated
	}
	tail := make([]byte, tailSize)
	if _, err := f.ReadAt(tail, size-int64(tailSize)); err != nil {
		return 0, fmt.Errorf("%w\nhint: %s", err, damagedHint)
	}
	if string(tail[4:]) != parquetMagic {
		return 0, truncated
	}
	length := int64(binary.LittleEndian.Uint32(tail))
	start := size - int64(tailSize) - length
	if length > footerMax || start < int64(len(parquetMagic)) {
		return 0, errors.New("the footer is longer than the file\nhint: " + damagedHint)
	}
	footer := make([]byte, length)
	if _, err := f.ReadAt(footer, start); err != nil {
		return 0, fmt.Errorf("%w\nhint: %s", err, damagedHint)
	}
	// The last one: text of the sessions may stand in the footer too, as a
	// column's bounds, but ahead of the key-value metadata.
	at := bytes.LastIndex(footer, []byte(sealMark))
	if at < 0 || at+len(sealMark)+len(sealBlank) > len(footer) {
		return 0, fault(sealKey, "name a Parquet file that datagen sessions wrote, or write JSON Lines", "missing from the file's key-value metadata")
	}
	return start + int64(at+len(sealMark)), nil
}
