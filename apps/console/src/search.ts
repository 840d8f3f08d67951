// The search of the URL: plain texts, so that links stay readable and nothing in them changes its type.

export type Search = Readonly<Record<string, string>>

export function parseSearch(search: string): Search {
  return Object.fromEntries(new URLSearchParams(search))
}

/** Leaves out what is empty. */
export function stringifySearch(search: Readonly<Record<string, unknown>>): string {
  const given = Object.entries(search).flatMap(([name, value]) =>
    value === undefined || value === null || value === '' ? [] : [[name, String(value)]],
  )
  const text = new URLSearchParams(given).toString()
  return text === '' ? '' : `?${text}`
}

/** Picks the texts with these names. */
export function textsOf<const Name extends string>(
  search: Readonly<Record<string, unknown>>,
  names: readonly Name[],
): { [Key in Name]?: string } {
  const picked: { [Key in Name]?: string } = {}
  for (const name of names) {
    const value = search[name]
    if (typeof value === 'string' && value !== '') picked[name] = value
  }
  return picked
}

/** The text, if it is one of these words. */
export function oneOf<const Word extends string>(words: readonly Word[], text: string | undefined): Word | undefined {
  return words.find((word) => word === text)
}
