// Says in one word per field what a schema of the document lets through.

export type Schema = {
  readonly type?: string
  readonly const?: unknown
  readonly enum?: readonly unknown[]
  readonly minimum?: number
  readonly maximum?: number
  readonly default?: unknown
  readonly items?: object
  readonly anyOf?: readonly Schema[]
  readonly required?: readonly string[]
  readonly properties?: Readonly<Record<string, Schema>>
}

/** @returns name and type of each field, sorted; that one may be null is not told */
export const fieldsOf = ({ properties = {} }: Schema): readonly string[] =>
  Object.entries(properties)
    .map(([name, schema]) => `${name} ${typeOf(schema)}`)
    .sort()

function typeOf({ type, anyOf = [], properties }: Schema): string {
  const types = new Set(anyOf.map(typeOf).filter((each) => each !== 'null'))
  return type ?? (properties ? 'object' : [...types].join('|'))
}
