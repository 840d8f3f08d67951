// Makes characters visible that change the direction of the text around them. Without imports, because the console ships it to browsers.

const bidiControl = /\p{Bidi_Control}/gu

/**
 * The text with `[U+202E]` instead of a control character for right-to-left text. With one of these a text can look like
 * another one: `moc.live` like `evil.com`.
 */
export const visibleText = (text: string): string =>
  text.replaceAll(bidiControl, (control) => `[U+${control.charCodeAt(0).toString(16).toUpperCase().padStart(4, '0')}]`)
