// Lines in the layouts of former exports. Runs in browsers too.

const lastField = /,"exact":\{(?:"(?:data|metadata)":"[A-Za-z0-9+/=]*",?){1,2}\}\}$/
const utf8 = { decoder: new TextDecoder(), encoder: new TextEncoder() }
const [quote, brace] = [0x22, 0x7d]

/**
 * A line of the present layout as an export of this format has it.
 * @param format of the manifest. Format 1 has no `exact`
 */
export function lineInFormat(line: Uint8Array, format: number): Uint8Array {
  const end = line.length - 1
  // An object in the last field, which is rare, is the only one that ends so.
  if (format > 1 || line[end] !== brace || line[end - 1] !== brace || line[end - 2] !== quote) return line
  const text = utf8.decoder.decode(line)
  const exact = lastField.exec(text)
  return exact === null ? line : utf8.encoder.encode(`${text.slice(0, exact.index)}}`)
}
