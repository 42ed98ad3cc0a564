// What the suite needs beside its checks: where the server is, the common files, and a check with a name.
package main

import (
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"time"
)

var (
	host      = os.Getenv("ROUND_HOST")
	port      = os.Getenv("ROUND_PORT")
	socket    = os.Getenv("ROUND_SOCKET")
	user      = os.Getenv("ROUND_USER")
	password  = os.Getenv("ROUND_PASSWORD")
	server    = os.Getenv("ROUND_SERVER") // mayfly, mysql or mariadb
	database  = os.Getenv("ROUND_DATABASE")
	temporary = os.Getenv("ROUND_TEMPORARY")
	common    = os.Getenv("ROUND_COMMON")
)

// Why a check ends before its end.
type skip struct{ reason string }
type failure struct{ text string }

func needs(condition bool, reason string) {
	if !condition {
		panic(skip{reason})
	}
}

func fail(format string, values ...any) { panic(failure{fmt.Sprintf(format, values...)}) }

func equal(got, expected any, what string) {
	if !reflect.DeepEqual(got, expected) {
		fail("%s: got %s, expected %s", what, shorten(got), shorten(expected))
	}
}

func shorten(value any) string {
	text := fmt.Sprintf("%#v", value)
	if len(text) > 300 {
		return fmt.Sprintf("%s... (%d bytes)", text[:200], len(text))
	}
	return text
}

func must(err error) {
	if err != nil {
		fail("%v", err)
	}
}

func got[T any](value T, err error) T {
	must(err)
	return value
}

// The statements of a common SQL file.
func statements(name string) []string {
	var lines, found []string
	for _, line := range strings.Split(string(got(os.ReadFile(filepath.Join(common, name)))), "\n") {
		if strings.HasPrefix(line, "--") {
			continue
		}
		if end, is := strings.CutSuffix(line, ";"); is {
			found = append(found, strings.Join(append(lines, end), "\n"))
			lines = nil
		} else {
			lines = append(lines, line)
		}
	}
	return found
}

// The lines of a common file of tab-separated values.
func rowsOf(name string) [][]string {
	var rows [][]string
	for _, line := range strings.Split(strings.TrimSuffix(string(got(os.ReadFile(filepath.Join(common, name)))), "\n"), "\n") {
		rows = append(rows, strings.Split(line, "\t"))
	}
	return rows
}

// A value of common/values.tsv: nil, or its bytes.
func value(text string) []byte {
	if text == `\N` {
		return nil
	}
	if digits, is := strings.CutPrefix(text, "0x"); is {
		return got(hex.DecodeString(digits))
	}
	return []byte(strings.NewReplacer(`\\`, `\`, `\t`, "\t", `\n`, "\n").Replace(text))
}

var failed = 0

func check(name string, work func()) {
	if !strings.Contains(name, os.Getenv("ROUND_CHECK")) {
		return
	}
	defer func() {
		switch why := recover().(type) {
		case nil:
			fmt.Println("ok", name)
		case skip:
			fmt.Printf("skip %s: %s\n", name, why.reason)
		case failure:
			failed++
			fmt.Printf("FAIL %s: %s\n", name, strings.Join(strings.Fields(why.text), " "))
		default:
			failed++
			fmt.Printf("FAIL %s: %v\n", name, why)
		}
	}()
	work()
}

func waitUntil(condition func() bool, what string) {
	for end := time.Now().Add(10 * time.Second); !condition(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			fail("%s did not come true", what)
		}
	}
}
