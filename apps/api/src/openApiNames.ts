// Moves schemas with a title to `components/schemas`, so that the document has each once, under a name.
export type Json = Readonly<Record<string, unknown>>

/** What is said of a schema where it is used. It stays there, beside the reference. */
const annotations: ReadonlySet<string> = new Set(['default', 'description', 'examples'])

/** Their values are data, which may have a field `title` too. */
const dataKeys: ReadonlySet<string> = new Set(['const', 'default', 'enum', 'example', 'examples'])

/**
 * Replaces each schema that has a title by a reference to the schema of this name.
 * @param schemas receives the named schemas
 * @returns a copy of the part
 * @throws Error when two different schemas have the same title
 */
export function withNamedSchemas(part: unknown, schemas: Record<string, unknown>): unknown {
  if (Array.isArray(part)) return part.map((each) => withNamedSchemas(each, schemas))
  if (!isObject(part)) return part
  const copy = Object.fromEntries(
    Object.entries(part).map(([key, value]) => [key, dataKeys.has(key) ? value : withNamedSchemas(value, schemas)]),
  )
  return typeof copy.title === 'string' ? reference(copy.title, copy, schemas) : copy
}

function reference(name: string, titled: Json, schemas: Record<string, unknown>): Json {
  const entries = Object.entries(titled).filter(([key]) => key !== 'title')
  const schema = Object.fromEntries(entries.filter(([key]) => !annotations.has(key)))
  const known = schemas[name] ?? schema
  if (JSON.stringify(known) !== JSON.stringify(schema))
    throw new Error(`Two different schemas have the title ${name}; give one of them another title`)
  schemas[name] = known
  return {
    $ref: `#/components/schemas/${name}`,
    ...Object.fromEntries(entries.filter(([key]) => annotations.has(key))),
  }
}

function isObject(value: unknown): value is Json {
  return typeof value === 'object' && value !== null
}
