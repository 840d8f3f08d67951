// Checks messages against their documented schemas.
import { Compile, type Validator } from 'typebox/compile'
import { messageSchemas } from '../messages/messageSchemas.ts'

/** The schema without additional properties. */
function strict(schema: object): Validator {
  const closed = (_key: string, part: unknown) =>
    typeof part === 'object' && part !== null && 'properties' in part ? { additionalProperties: false, ...part } : part
  return Compile(JSON.parse(JSON.stringify(schema, closed)))
}

const { canonical, raw, legacy } = messageSchemas
const canonicalValidators = new Map<unknown, Validator>(canonical.map(({ name, schema }) => [name, strict(schema)]))
const otherValidators = { raw: strict(raw.schema), legacy: strict(legacy.schema) }

/** @returns how a parsed body differs from its schema; undocumented fields count */
export function messageErrors(
  mode: 'canonical' | keyof typeof otherValidators,
  message: { readonly event: unknown },
): readonly unknown[] {
  const validator = mode === 'canonical' ? canonicalValidators.get(message.event) : otherValidators[mode]
  return validator === undefined ? ['an undocumented name'] : validator.Errors(message)
}
