// The outside judge: verifies checkpoints and proofs with golang.org/x/mod/sumdb, which shares no code with Paylog.
//
//	judge VERIFIER_KEY proof.json        the proof of a payment
//	judge VERIFIER_KEY consistency.json  the proof that one checkpoint extends another
//
// Prints one line and exits with 0, or says what is wrong and exits with 1.
package main

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"strconv"
	"strings"

	"golang.org/x/mod/sumdb/note"
	"golang.org/x/mod/sumdb/tlog"
)

type event struct {
	Index          int64    `json:"index"`
	Stream         string   `json:"stream"`
	Revision       string   `json:"revision"`
	ID             string   `json:"id"`
	Type           string   `json:"type"`
	Data           *string  `json:"data"`
	DataBase64     string   `json:"data_base64"`
	Metadata       *string  `json:"metadata"`
	MetadataBase64 string   `json:"metadata_base64"`
	Proof          []string `json:"proof"`
}

type side struct {
	Checkpoint string `json:"checkpoint"`
}

type document struct {
	Checkpoint string   `json:"checkpoint"`
	Events     []event  `json:"events"`
	Older      *side    `json:"older"`
	Newer      *side    `json:"newer"`
	Proof      []string `json:"proof"`
}

func main() {
	verdict, err := judge(os.Args[1], os.Args[2])
	if err != nil {
		fmt.Println(err)
		os.Exit(1)
	}
	fmt.Println(verdict)
}

func judge(key, path string) (string, error) {
	verifier, err := note.NewVerifier(key)
	if err != nil {
		return "", err
	}
	text, err := os.ReadFile(path)
	if err != nil {
		return "", err
	}
	var given document
	if err := json.Unmarshal(text, &given); err != nil {
		return "", err
	}
	if given.Older != nil {
		return judgeConsistency(given, verifier)
	}
	return judgeEvents(given, verifier)
}

func judgeEvents(given document, verifier note.Verifier) (string, error) {
	tree, err := openCheckpoint(given.Checkpoint, verifier)
	if err != nil {
		return "", err
	}
	if len(given.Events) == 0 {
		return "", fmt.Errorf("no events")
	}
	for _, each := range given.Events {
		data, err := leafData(each)
		if err != nil {
			return "", err
		}
		proof, err := hashes(each.Proof)
		if err != nil {
			return "", err
		}
		if err := tlog.CheckRecord(proof, tree.N, tree.Hash, each.Index, tlog.RecordHash(data)); err != nil {
			return "", fmt.Errorf("event %d: %v", each.Index, err)
		}
	}
	return fmt.Sprintf("%d events are in the tree of size %d", len(given.Events), tree.N), nil
}

func judgeConsistency(given document, verifier note.Verifier) (string, error) {
	older, err := openCheckpoint(given.Older.Checkpoint, verifier)
	if err != nil {
		return "", err
	}
	newer, err := openCheckpoint(given.Newer.Checkpoint, verifier)
	if err != nil {
		return "", err
	}
	proof, err := hashes(given.Proof)
	if err != nil {
		return "", err
	}
	if err := tlog.CheckTree(proof, newer.N, newer.Hash, older.N, older.Hash); err != nil {
		return "", err
	}
	return fmt.Sprintf("the tree of size %d extends that of size %d", newer.N, older.N), nil
}

// openCheckpoint verifies the note and reads origin, size and root: c2sp.org/tlog-checkpoint.
func openCheckpoint(text string, verifier note.Verifier) (tlog.Tree, error) {
	opened, err := note.Open([]byte(text), note.VerifierList(verifier))
	if err != nil {
		return tlog.Tree{}, err
	}
	lines := strings.Split(opened.Text, "\n")
	if len(lines) < 4 || lines[0] != verifier.Name() {
		return tlog.Tree{}, fmt.Errorf("not a checkpoint of %s", verifier.Name())
	}
	size, err := strconv.ParseInt(lines[1], 10, 64)
	if err != nil {
		return tlog.Tree{}, err
	}
	root, err := tlog.ParseHash(lines[2])
	return tlog.Tree{N: size, Hash: root}, err
}

// leafData is the layout in docs/audit.md.
func leafData(given event) ([]byte, error) {
	revision, err := strconv.ParseUint(given.Revision, 10, 64)
	if err != nil {
		return nil, err
	}
	metadata, err := content(given.Metadata, given.MetadataBase64)
	if err != nil {
		return nil, err
	}
	data, err := content(given.Data, given.DataBase64)
	if err != nil {
		return nil, err
	}
	var leaf bytes.Buffer
	leaf.WriteByte(1)
	binary.Write(&leaf, binary.BigEndian, revision)
	for _, part := range [][]byte{[]byte(given.Stream), []byte(given.ID), []byte(given.Type), metadata, data} {
		binary.Write(&leaf, binary.BigEndian, uint32(len(part)))
		leaf.Write(part)
	}
	return leaf.Bytes(), nil
}

func content(text *string, encoded string) ([]byte, error) {
	if text != nil {
		return []byte(*text), nil
	}
	return base64.StdEncoding.DecodeString(encoded)
}

func hashes(encoded []string) ([]tlog.Hash, error) {
	list := make([]tlog.Hash, 0, len(encoded))
	for _, each := range encoded {
		hash, err := tlog.ParseHash(each)
		if err != nil {
			return nil, err
		}
		list = append(list, hash)
	}
	return list, nil
}
