// Applies the golden sample of every recorded event version to every projection and its table.

import { createSecretKey } from 'node:crypto'
import type { SealedPart } from '@paylog/domain/personalData'
import { recordedEvents, upcasters } from '@paylog/domain/recordedEvents'
import { type KnownKeys, seal, unseal } from '@paylog/event-store/codec/sealing'
import { createStoredShapes } from '@paylog/event-store/codec/shapes'
import { type GoldenSample, goldenSamples } from '@paylog/testing/goldenSamples'
import { positionAt } from '@paylog/testing/positionAt'
import t from 'tap'
import { createApplier } from './apply/applier.ts'
import type { Values } from './columns.ts'
import type { Change, Projection } from './projection.ts'
import { projections } from './registry.ts'
import { noErasures } from './testing/noErasures.ts'
import { readModelDatabase } from './testing/projectionHarness.ts'

type AppliedSample = { readonly name: string; readonly event: GoldenSample['event']; readonly change: Change<Values> }

/** The samples that insert a row of the projection, and those that change one. */
function appliedBy({ changeOf }: Projection): {
  readonly beginning: readonly AppliedSample[]
  readonly changing: readonly AppliedSample[]
} {
  const mapped = goldenSamples().flatMap(({ name, event }) => {
    const found = changeOf({ ...event, revision: 0n, sealed: {} })
    return found === undefined ? [] : [{ name, event, change: found.change }]
  })
  return {
    beginning: mapped.filter(({ change }) => 'insert' in change),
    changing: mapped.filter(({ change }) => 'patch' in change),
  }
}

t.test('every golden sample changes only columns that exist and have a merge rule', async (t) => {
  for (const projection of projections) {
    const { beginning, changing } = appliedBy(projection)
    const columns = Object.keys(projection.columns).toSorted()
    for (const { name, change } of beginning)
      t.same('insert' in change && Object.keys(change.insert).toSorted(), columns, `${projection.name}: ${name}`)
    for (const { name, change } of changing)
      for (const column of 'patch' in change ? Object.keys(change.patch) : [])
        t.ok(projection.columns[column]?.merge, `${projection.name}: ${name} changes ${column}`)
    t.ok(beginning.length > 0, projection.name)
  }
})

const shapes = createStoredShapes({ current: recordedEvents, former: upcasters })
const key = { id: 'key', key: createSecretKey(Buffer.alloc(32, 7)) }

/** An event as it is decoded when only some of its sealed parts are opened. */
function openedPartly({ type, data }: GoldenSample['event'], parts: readonly SealedPart[]): GoldenSample['event'] {
  const sealable = shapes.newest(type)?.sealed ?? { fields: [], always: [] }
  const identity = { stream: 'golden-1', id: 'event', type }
  const stored = JSON.parse(JSON.stringify(seal(sealable, data, () => [key], identity)))
  const known: KnownKeys = (_, part) => (parts.includes(part) ? key.key : null)
  return { type, data: unseal(sealable.fields, stored, known, identity).data } as GoldenSample['event']
}

t.test('a projection opens every part of an event whose sealed values its rows hold', async (t) => {
  for (const { name: projection, opens, changeOf } of projections)
    for (const { name, event } of goldenSamples()) {
      const recorded = { revision: 0n, sealed: {} }
      const needed = openedPartly(event, opens.get(event.type) ?? [])
      t.same(changeOf({ ...needed, ...recorded }), changeOf({ ...event, ...recorded }), `${projection}: ${name}`)
    }
})

t.test('every golden sample can be written, alone and followed by all others', async (t) => {
  const { pool } = await readModelDatabase(t)
  for (const projection of projections) {
    const { beginning, changing } = appliedBy(projection)
    for (const [index, first] of beginning.entries()) {
      // The samples are about different rows; here all change the same row.
      const id = `0190a000-0000-7000-8000-${String(index).padStart(12, '0')}`
      const ofOneRow: Projection = {
        ...projection,
        changeOf(event) {
          const mapped = projection.changeOf(event)
          return mapped && { ...mapped, id }
        },
      }
      const applier = createApplier({ pool, projection: ofOneRow, version: 1, source: noErasures })
      await applier.start()
      for (const [step, { name, event }] of [first, ...changing].entries()) {
        const at = BigInt(index * 10_000 + step + 1)
        const batch = { events: [{ ...event, revision: BigInt(step), sealed: {} }], position: positionAt(at) }
        await t.resolves(applier.apply(batch), `${projection.name}: ${name}`)
      }
    }
    const { rows } = await pool.query(`select distinct revision::int from read_models.${projection.name}_v1`)
    t.same(rows, [{ revision: changing.length }], `${projection.name}: each row has the last revision`)
  }
})
