// Finds a member of a JSON object without losing how it was written.

/**
 * The bytes of a member's value.
 * @param json of an object; valid, as the caller has seen
 * @returns nothing when the object has no such member, or several
 */
export function rawMember(json: Buffer, name: string): Buffer | undefined {
  // Byte by byte: what is beyond ASCII stands in strings only, and is passed over there.
  const text = json.toString('latin1')
  const found: Buffer[] = []
  let depth = 0
  let key: string | undefined
  let valueAt = 0
  const close = (end: number) => {
    if (key === name) found.push(Buffer.from(text.slice(valueAt, end).trim(), 'latin1'))
    key = undefined
  }
  const token = /"(?:[^"\\]|\\.)*"|[{}[\],:]/g
  for (let match = token.exec(text); match; match = token.exec(text)) {
    const [word] = match
    if (word.startsWith('"')) {
      if (depth === 1 && key === undefined) key = String(JSON.parse(word))
    } else if (word === ':' && depth === 1) valueAt = token.lastIndex
    else if (word === '{' || word === '[') depth++
    else if (word === '}' || word === ']') {
      if (depth === 1) close(match.index)
      depth--
    } else if (word === ',' && depth === 1) close(match.index)
  }
  return found.length === 1 ? found[0] : undefined
}
