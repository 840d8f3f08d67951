// JSON whose numbers stay the text that was sent: amounts are decimals, and a float would lose what they were.

/**
 * Every number becomes its text: `7.25`, `0.0` and `19.990` stay what they are, and ids may come as numbers or as text.
 * @returns `undefined` for what is no JSON
 */
export function parseExactJson(text: string): unknown {
  try {
    return JSON.parse(text, (_key, value: unknown, context?: { readonly source?: string }) =>
      typeof value === 'number' ? context?.source : value,
    )
  } catch {
    return undefined
  }
}
