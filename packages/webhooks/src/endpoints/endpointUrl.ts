// Parses and redacts the URL of an endpoint.

/** The requirement on a URL, as the end of an error message. */
export const endpointUrlRule = 'without user name, password and fragment, and without spaces'

/** Host names and IP addresses. Excludes an unexpanded variable (`${HOST}`), and a second URL after a comma. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[\da-f:.]+\])$/
/** The URL standard also accepts `https:example.com`, which is probably a typing error. */
const beginning = /^https?:\/\/[^/]/i
/** The URL standard drops or escapes these characters, so two URLs on two lines would become one. */
const spacesAndInvisible = /[\s\p{C}]/u
const furtherUrl = /,https?:\/\//i

/** @returns the normalised URL; undefined when it is invalid or probably a mistake */
export function endpointUrl(text: string): string | undefined {
  if (!beginning.test(text) || spacesAndInvisible.test(text) || text.includes('#') || !URL.canParse(text))
    return undefined
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && hostPattern.test(url.hostname)
  return isPlain && !furtherUrl.test(url.pathname) ? url.href : undefined
}

/** Names shorter than this are never treated as keys. */
export const minKeyLength = 8
const maxWordLength = 20

/** Whether a part of a URL may be a secret key: it is too long for a word, or contains a digit. */
export function looksLikeKey(name: string): boolean {
  return name.length > maxWordLength || (name.length >= minKeyLength && /\d/.test(name))
}

/**
 * The URL for display on a terminal: host and path, without the query and without path segments that may be keys. The whole
 * path of a chat service is secret, so only its host is shown.
 */
export function redactedUrl({ url, format }: { readonly url: string; readonly format: string }): string {
  const { origin, pathname } = new URL(url)
  const names = format === 'json' ? pathname.slice(1).split('/') : ['…']
  return `${origin}/${names.map((name) => (looksLikeKey(name) ? '…' : name)).join('/')}`
}
