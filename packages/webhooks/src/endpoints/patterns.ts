// Which messages a node wants to hear of.

/** What a message is called when patterns are matched against it. */
export type MessageNames = {
  /** Canonical name, or the raw event's generic name (its native one where there is no generic one). */
  readonly plain: string
  /** `<provider>:<native type>` of a raw event; a canonical message has no provider in its name. */
  readonly prefixed: string | null
}

const part = '[A-Za-z0-9_-]+'
const provider = '[a-z][a-z0-9-]*:'
const grammar = new RegExp(`^(?:all|${provider}\\*|(?:${provider})?${part}(?:\\.${part})*(?:\\.\\*)?)$`)

/** Whether the text is a pattern: `all`, a name, `family.*`, and the latter two, or `*`, behind a `<provider>:`. */
export function isPattern(text: string): boolean {
  // `ALL` would be the name of an event that nobody has.
  return grammar.test(text) && (text === 'all' || text.toLowerCase() !== 'all')
}

/**
 * Whether a pattern covers a message. With a provider prefix the native name counts, without one the generic name; so
 * `customer.*` does not cover Stripe's `customer.subscription.updated`, and `stripe:customer.*` does.
 */
export function matchesPattern(pattern: string, names: MessageNames): boolean {
  if (pattern === 'all') return true
  const name = pattern.includes(':') ? names.prefixed : names.plain
  if (name === null) return false
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
