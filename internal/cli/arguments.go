package cli

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"github.com/toolgauge/toolgauge/internal/nearest"
)

// NoArguments refuses words behind a command that takes none. A word behind one
// with verbs is a verb that there is not; see [UnknownVerb].
func NoArguments(c *cobra.Command, words []string) error {
	if len(words) == 0 {
		return nil
	}
	return UnknownVerb(c, words[0])
}

// OneArgument demands exactly one argument, which errors call by its name.
func OneArgument(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if len(words) > 1 {
			return Usage(fmt.Errorf("%s takes one %s, got %d%s%s", c.CommandPath(), name, len(words), hintMark, forExample(c)))
		}
		return SomeArguments(name)(c, words)
	}
}

// SomeArguments demands at least one argument.
func SomeArguments(name string) cobra.PositionalArgs {
	return func(c *cobra.Command, words []string) error {
		if len(words) == 0 {
			return Usage(fmt.Errorf("%s needs a %s%s%s", c.CommandPath(), name, hintMark, forExample(c)))
		}
		return nil
	}
}

// forExample words a hint of the first of a command's examples.
func forExample(c *cobra.Command) string {
	first, _, _ := strings.Cut(strings.TrimSpace(c.Example), "\n")
	return "for example: " + first
}

// UnknownVerb is the error for a word that is none of a command's verbs.
func UnknownVerb(c *cobra.Command, word string) error {
	var verbs []string
	for _, v := range c.Commands() {
		if v.IsAvailableCommand() {
			verbs = append(verbs, v.Name())
		}
	}
	if len(verbs) == 0 {
		return Usage(fmt.Errorf("%s takes no arguments, got %q%s%s", c.CommandPath(), word, hintMark, seeHelp(c)))
	}
	return Usage(fmt.Errorf("unknown verb %q%s%s", word, hintMark, nearest.Hint(word, verbs)))
}

// flagError words a fault of the flags given to a command.
func flagError(c *cobra.Command, err error) error {
	var unknown *pflag.NotExistError
	var bare *pflag.ValueRequiredError
	var invalid *pflag.InvalidValueError
	switch {
	case errors.As(err, &unknown) && unknown.GetSpecifiedShortnames() != "":
		return Usage(fmt.Errorf("unknown flag -%s%s%s", unknown.GetSpecifiedName(), hintMark, seeHelp(c)))
	case errors.As(err, &unknown):
		given := "--" + unknown.GetSpecifiedName()
		return Usage(fmt.Errorf("unknown flag %s%s%s", given, hintMark, nearest.Hint(given, flagNames(c))))
	case errors.As(err, &bare):
		return Usage(fmt.Errorf("--%s needs a value%s%s", bare.GetFlag().Name, hintMark, seeHelp(c)))
	case errors.As(err, &invalid):
		f := invalid.GetFlag()
		return Usage(fmt.Errorf("--%s %q: not %s%s%s", f.Name, invalid.GetValue(), wanted(f), hintMark, seeHelp(c)))
	}
	return Usage(fmt.Errorf("%w%s%s", err, hintMark, seeHelp(c)))
}

// wanted says what the value of a flag has to be.
func wanted(f *pflag.Flag) string {
	switch f.Value.Type() {
	case "uint64":
		return "a whole number from 0 to 18446744073709551615"
	case "int":
		return "a whole number"
	case "bool":
		return "true or false"
	default:
		return "a value of the flag"
	}
}

func flagNames(c *cobra.Command) []string {
	var names []string
	c.Flags().VisitAll(func(f *pflag.Flag) { names = append(names, "--"+f.Name) })
	return names
}
