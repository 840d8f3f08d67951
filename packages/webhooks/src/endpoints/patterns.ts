// Event patterns, which select the messages that an endpoint receives.

/** The names of a message that patterns are matched against. */
export type MessageNames = {
  /** The canonical name, or a raw event's generic name (its native one if there is no generic one). */
  readonly plain: string
  /** `<provider>:<native type>` of a raw event; `null` for a canonical message. */
  readonly prefixed: string | null
}

const part = '[A-Za-z0-9_-]+'
const provider = '[a-z][a-z0-9-]*:'
const grammar = new RegExp(`^(?:all|${provider}\\*|(?:${provider})?${part}(?:\\.${part})*(?:\\.\\*)?)$`)

/** Whether the text is a pattern: `all`, a name, `family.*`, or `<provider>:` followed by a name, `family.*` or `*`. */
export function isPattern(text: string): boolean {
  // `ALL` would match an event of that name, which does not exist.
  return grammar.test(text) && (text === 'all' || text.toLowerCase() !== 'all')
}

/**
 * Whether a pattern matches a message. A pattern with a provider prefix is compared with the native name, one without it
 * with the generic name: `customer.*` does not match Stripe's `customer.subscription.updated`, but `stripe:customer.*` does.
 */
export function matchesPattern(pattern: string, names: MessageNames): boolean {
  if (pattern === 'all') return true
  const name = pattern.includes(':') ? names.prefixed : names.plain
  if (name === null) return false
  return pattern.endsWith('*') ? name.startsWith(pattern.slice(0, -1)) : name === pattern
}
