// Which parts of a schema some values make use of, and which none of them does.
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'

/**
 * The places of a schema that no value fills: a field that never is there, one that may be absent and never is, and an
 * alternative that never was taken, `null` and each of an enumeration's words among them.
 */
export function unusedSchemaPaths(schema: TSchema, values: readonly unknown[], path = 'data'): readonly string[] {
  if (values.length === 0) return [path]
  if (Type.IsObject(schema)) return unusedFields(schema.properties, values, path)
  if (Type.IsUnion(schema))
    return schema.anyOf.flatMap((branch) => {
      const taken = values.filter((value) => Value.Check(branch, value))
      return unusedSchemaPaths(branch, taken, `${path} as ${labelFor(branch)}`)
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
  // Alternatives with fields are told apart by one that is the same in all values.
  const kind = Type.IsObject(branch) ? branch.properties.kind : undefined
  return kind !== undefined && Type.IsLiteral(kind) ? String(kind.const) : 'a value'
}
