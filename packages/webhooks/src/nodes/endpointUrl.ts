// The address of an endpoint, as an operator writes it.

/** What an address has to be, to complete the sentence "… must be". */
export const endpointUrlRule = 'without user name, password and fragment, and without spaces'

/** Of names and addresses; a variable that was not filled in (`${HOST}`) or a second URL after a comma is neither. */
const hostPattern = /^(?:[a-z0-9._-]+|\[[\da-f:.]+\])$/
/** `https:example.com` is read as well by the URL standard, which is kinder than whoever mistyped it wants. */
const beginning = /^https?:\/\/[^/]/i
/** The URL standard drops or escapes them, so that two URLs on two lines would become one. */
const spacesAndUnseen = /[\s\p{C}]/u
const furtherUrl = /,https?:\/\//i

/** @returns the address in its normal form; nothing when it is none, or not one that can be meant */
export function endpointUrl(text: string): string | undefined {
  if (!beginning.test(text) || spacesAndUnseen.test(text) || text.includes('#') || !URL.canParse(text)) return undefined
  const url = new URL(text)
  const isPlain = url.username === '' && url.password === '' && hostPattern.test(url.hostname)
  return isPlain && !furtherUrl.test(url.pathname) ? url.href : undefined
}
