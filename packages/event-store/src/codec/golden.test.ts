// Every event that was ever stored can still be read: each stored type and version has its samples, and they decode.

import { readdirSync } from 'node:fs'
import type { RecordedEvent } from '@eventstore/db-client'
import { recordedEvents, upcasters } from '@paylog/domain/recordedEvents'
import { type GoldenSample, goldenSamples } from '@paylog/testing/goldenSamples'
import t from 'tap'
import { unusedSchemaPaths } from '../testing/schemaCoverage.ts'
import { createStoredShapes, domainCodec } from './codec.ts'

const id = '0190a000-0000-7000-8000-000000000001'
const position = { commit: 1n, prepare: 1n }
const samples = goldenSamples()
const shapes = createStoredShapes({ current: recordedEvents, former: upcasters })

/** As the client hands it out. */
const recorded = ({ storedType, data, metadata }: GoldenSample) => {
  const common = { streamId: 'golden-1', id, revision: 0n, type: storedType, created: new Date(0) }
  return { ...common, isJson: true, data, metadata } as RecordedEvent
}

t.test('every stored type has a file with samples, and every file a stored type', async (t) => {
  const files = readdirSync(new URL('../../../domain/golden/', import.meta.url)).filter((name) =>
    name.endsWith('.json'),
  )
  t.same(files.toSorted(), shapes.all.map(({ storedType }) => `${storedType}.json`).toSorted())
  const sampled = new Set(samples.map(({ storedType }) => storedType))
  t.same([...sampled].toSorted(), shapes.all.map(({ storedType }) => storedType).toSorted(), 'no file is empty')
})

t.test('every sample is read as the newest event that its file says', async (t) => {
  for (const sample of samples) {
    const { type, data, metadata } = domainCodec.decode(recorded(sample), position)
    t.strictSame({ type, data }, sample.event, sample.name)
    t.strictSame(metadata, sample.metadata, `${sample.name}: what stands beside it`)
  }
})

t.test('a sample has the version of its stored type beside it', async (t) => {
  for (const { name, storedType, metadata } of samples)
    t.equal(metadata.schema, shapes.stored(storedType)?.version, name)
})

t.test('an event that is read can be written again, in the newest shape', async (t) => {
  for (const { name, event, metadata } of samples) {
    const shape = shapes.newest(event.type)
    t.match(
      domainCodec.encode(event, id, metadata),
      { type: shape?.storedType, data: event.data, metadata: { schema: shape?.version } },
      name,
    )
  }
})

t.test('every field of every stored type is in some sample, with every kind of value that it may have', async (t) => {
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
