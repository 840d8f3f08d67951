// Every stored event stays readable: each stored type and version has golden samples that decode.

import { createSecretKey } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { recordedEvents, upcasters } from '@paylog/domain/recordedEvents'
import { type GoldenSample, goldenSamples } from '@paylog/testing/goldenSamples'
import t from 'tap'
import type { RawEvent } from '../read/rawEvent.ts'
import { unusedSchemaPaths } from '../testing/schemaCoverage.ts'
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
