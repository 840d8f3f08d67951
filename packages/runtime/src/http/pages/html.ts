// HTML whose values are escaped.

/** Well-formed HTML, as `html` makes it. */
export type Html = { readonly html: string }
type Value = string | number | Html | null | undefined | readonly Value[]

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** The tag of a template. Its values stand in text or in quoted attributes; null and undefined stand for nothing. */
export function html(parts: TemplateStringsArray, ...values: readonly Value[]): Html {
  return { html: parts.reduce((before, part, index) => `${before}${textOf(values[index - 1])}${part}`) }
}

function textOf(value: Value): string {
  if (value === null || value === undefined) return ''
  if (typeof value !== 'object') return String(value).replaceAll(/[&<>"']/g, (character) => entities[character] ?? '')
  return 'html' in value ? value.html : value.map(textOf).join('')
}
