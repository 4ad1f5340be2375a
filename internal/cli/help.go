package cli

import (
	"fmt"
	"strings"

	"github.com/spf13/cobra"
)

// helpWidth is the most columns that the lines of flags take.
const helpWidth = 100

// usage prints how a command is called: the part of its help behind the
// description.
func usage(c *cobra.Command) error {
	var text strings.Builder
	text.WriteString("Usage:\n")
	if c.Runnable() {
		fmt.Fprintf(&text, "  %s\n", c.UseLine())
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&text, "  %s VERB [flags]\n\nVerbs:\n", c.CommandPath())
		for _, verb := range c.Commands() {
			if verb.IsAvailableCommand() {
				fmt.Fprintf(&text, "  %-*s  %s\n", verb.NamePadding(), verb.Name(), verb.Short)
			}
		}
	}
	if c.HasExample() {
		fmt.Fprintf(&text, "\nExamples:\n%s\n", c.Example)
	}
	if c.HasAvailableLocalFlags() {
		fmt.Fprintf(&text, "\nFlags:\n%s", c.LocalFlags().FlagUsagesWrapped(helpWidth))
	}
	if c.HasAvailableSubCommands() {
		fmt.Fprintf(&text, "\n%s VERB --help says more about a verb.\n", c.CommandPath())
	}
	_, err := fmt.Fprint(c.OutOrStderr(), text.String())
	return err
}

// helpCommand is the verb help. The library's own answers a word that is no verb
// with the program's help, as if nothing were wrong.
func helpCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "help [VERB]",
		Short: "Show the help of a verb",
		Long:  "Show the help of a verb: what its flag --help shows.",
		RunE: func(help *cobra.Command, words []string) error {
			c := help.Root()
			for _, word := range words {
				verb := findVerb(c, word)
				if verb == nil {
					return UnknownVerb(c, word)
				}
				c = verb
			}
			c.InitDefaultHelpFlag() // else its help would not list it
			return c.Help()
		},
	}
}

func findVerb(c *cobra.Command, name string) *cobra.Command {
	for _, verb := range c.Commands() {
		if verb.Name() == name {
			return verb
		}
	}
	return nil
}

func seeHelp(c *cobra.Command) string { return "see " + c.CommandPath() + " --help" }
