// Every stored event stays readable: each stored type and version has golden samples that decode.

import { createSecretKey } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { recordedEvents, upcasters } from '@paylog/domain/recordedEvents'
import { type GoldenSample, goldenSamples } from '@paylog/testing/goldenSamples'
import t from 'tap'
import { type TSchema, Type } from 'typebox'
import { Value } from 'typebox/value'
import type { RawEvent } from '../read/rawEvent.ts'
import { domainCodec } from './codec.ts'
import { createStoredShapes } from './shapes.ts'

const id = '0190a000-0000-7000-8000-000000000001'
const position = { commit: 1n, prepare: 1n, eventId: id }
const key = { id, key: createSecretKey(Buffer.alloc(32, 7)) }
const samples = goldenSamples()
const shapes = createStoredShapes({ current: recordedEvents, former: upcasters })

/** A sample as it is in the log. */
const recorded = ({ storedType, data, storedMetadata }: GoldenSample): RawEvent => ({
  stream: 'golden-1',
  id,
  revision: 0n,
  type: storedType,
  created: new Date(0),
  position,
  contentType: 'application/json',
  data: Buffer.from(JSON.stringify(data)),
  metadata: Buffer.from(JSON.stringify(storedMetadata)),
})

t.test('golden sample files and stored types match one to one', async (t) => {
  const files = readdirSync(new URL('../../../domain/golden/', import.meta.url)).filter((name) =>
    name.endsWith('.json'),
  )
  t.same(files.toSorted(), shapes.all.map(({ storedType }) => `${storedType}.json`).toSorted())
  const sampled = new Set(samples.map(({ storedType }) => storedType))
  t.same([...sampled].toSorted(), shapes.all.map(({ storedType }) => storedType).toSorted(), 'every file has samples')
})

t.test('every golden sample decodes to the newest event named in its file', async (t) => {
  for (const sample of samples) {
    const { type, data, metadata } = domainCodec.decode(recorded(sample), () => undefined)
    t.strictSame({ type, data }, sample.event, sample.name)
    t.strictSame(metadata, sample.metadata, `${sample.name}: metadata`)
  }
})

t.test('the metadata of a golden sample has the version of its stored type', async (t) => {
  for (const { name, storedType, metadata } of samples)
    t.equal(metadata.schema, shapes.stored(storedType)?.version, name)
})

t.test('every decoded golden sample can be encoded in the newest shape', async (t) => {
  for (const sample of samples) {
    const { name, event, metadata } = sample
    const shape = shapes.newest(event.type)
    const { type, ...encoded } = domainCodec.encode(event, id, metadata, { stream: 'golden-1', keysOf: () => [key] })
    t.match([type, encoded.metadata], [shape?.storedType, { schema: shape?.version }], name)
    const log = { ...recorded(sample), type, data: Buffer.from(JSON.stringify(encoded.data)) }
    t.strictSame(domainCodec.decode(log, () => key.key).data, event.data, `${name}: data`)
  }
})

t.test('golden samples cover every field of every stored type, with every kind of value', async (t) => {
  for (const { storedType, schema } of shapes.all) {
    const own = samples.filter((sample) => sample.storedType === storedType)
    t.same(
      unusedSchemaPaths(
        schema,
        own.map(({ data }) => data),
      ),
      [],
      storedType,
    )
  }
})

/**
 * Paths of a schema that no value covers: fields that are never present, optional fields that are never absent, and
 * alternatives that never occur, including `null` and enum values.
 */
function unusedSchemaPaths(schema: TSchema, values: readonly unknown[], path = 'data'): readonly string[] {
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
