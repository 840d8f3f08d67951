// The three characters with which Slack (mentions, links) and HTML (tags, entities) tell markup from text.

/** Text that is shown as it is. */
export function escapeMarkup(text: string): string {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;')
}
