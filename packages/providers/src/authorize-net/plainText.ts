// Free text as the gateway takes it.

/** The schema's limit for descriptions. */
const maxTextLength = 255

/** A request becomes XML there, which knows no control characters, and what is too long is an error. */
export function plainText(text: string): string {
  return text
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, maxTextLength)
    .toWellFormed()
}
