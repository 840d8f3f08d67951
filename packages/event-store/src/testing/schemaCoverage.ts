// Finds the parts of a schema that no sample value uses.
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'

/**
 * Paths of a schema that no value covers: fields that are never present, optional fields that are never absent, and
 * alternatives that never occur, including `null` and enum values.
 */
export function unusedSchemaPaths(schema: TSchema, values: readonly unknown[], path = 'data'): readonly string[] {
  if (values.length === 0) return [path]
  if (Type.IsObject(schema)) return unusedFields(schema.properties, values, path)
  if (Type.IsUnion(schema))
    return schema.anyOf.flatMap((branch) => {
      const matching = values.filter((value) => Value.Check(branch, value))
      return unusedSchemaPaths(branch, matching, `${path} as ${labelFor(branch)}`)
    })
  if (Type.IsEnum(schema))
    return schema.enum.filter((word) => !values.includes(word)).map((word) => `${path} as ${String(word)}`)
  if (Type.IsArray(schema)) return unusedSchemaPaths(schema.items, values.filter(Array.isArray).flat(), `${path}[]`)
  return []
}

function unusedFields(fields: Readonly<Record<string, TSchema>>, values: readonly unknown[], path: string) {
  const entries = values.map((value) => new Map<string, unknown>(Object.entries(Object(value))))
  return Object.entries(fields).flatMap(([name, schema]): readonly string[] => {
    const present = entries.filter((entry) => entry.has(name)).map((entry) => entry.get(name))
    const neverAbsent = Type.IsOptional(schema) && present.length === values.length
    const unused = unusedSchemaPaths(schema, present, `${path}.${name}`)
    return neverAbsent ? [`no ${path}.${name}`, ...unused] : unused
  })
}

function labelFor(branch: TSchema): string {
  if (Type.IsNull(branch)) return 'null'
  if (Type.IsLiteral(branch)) return String(branch.const)
  // Object alternatives are distinguished by their `kind`.
  const kind = Type.IsObject(branch) ? branch.properties.kind : undefined
  return kind !== undefined && Type.IsLiteral(kind) ? String(kind.const) : 'a value'
}
