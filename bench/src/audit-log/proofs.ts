// Proofs in a large tree, whose leaves come from no log.
import { randomInt, randomUUID } from 'node:crypto'
import { leafHash } from '@paylog/audit-log/leaf'
import { consistencyProof, inclusionProof, verifyConsistency, verifyInclusion } from '@paylog/audit-log/proofs'
import { treeRoot } from '@paylog/audit-log/tree'
import { leafIndexes, storedHashes } from '@paylog/audit-log/treeStore'
import { createTreeWriter, restartTree } from '@paylog/audit-log/treeWriter'
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import type { Pool } from 'pg'
import { formatNumber, type Print, quantile } from '../harness/benchmark.ts'

const samples = 200
const batchEvents = 25_600

export type ProofTimes = { readonly inclusionMs: number; readonly consistencyMs: number; readonly rootMs: number }

export async function measureProofs(pool: Pool, leaves: number, print: Print): Promise<ProofTimes> {
  const begin = performance.now()
  await fillTree(pool, leaves)
  print(`${formatNumber(leaves)} leaves written in ${((performance.now() - begin) / 1_000).toFixed(0)} s`)
  const read = storedHashes(pool)
  const root = await treeRoot(leaves, read)
  const times = { inclusion: [] as number[], consistency: [] as number[], root: [] as number[] }
  for (let sample = 0; sample < samples; sample += 1) {
    const leaf = randomInt(leaves)
    const includedAt = performance.now()
    const [index] = await leafIndexes(pool, [positionOf(leaf)])
    if (index !== leaf) throw new Error(`The leaf ${leaf} was found at ${index}`)
    const inclusion = await inclusionProof(leaf, leaves, read)
    times.inclusion.push(performance.now() - includedAt)
    verifyInclusion({ index: leaf, size: leaves, leafHash: leafHash(eventAt(leaf)), root, proof: inclusion })

    const oldSize = 1 + randomInt(leaves)
    const consistentAt = performance.now()
    const consistency = await consistencyProof(oldSize, leaves, read)
    times.consistency.push(performance.now() - consistentAt)
    const rootAt = performance.now()
    const oldRoot = await treeRoot(oldSize, read)
    times.root.push(performance.now() - rootAt)
    verifyConsistency({ oldSize, newSize: leaves, oldRoot, newRoot: root, proof: consistency })
  }
  const p99 = (of: readonly number[]) => quantile(of, 0.99)
  return { inclusionMs: p99(times.inclusion), consistencyMs: p99(times.consistency), rootMs: p99(times.root) }
}

async function fillTree(pool: Pool, leaves: number): Promise<void> {
  await restartTree(pool)
  const writer = createTreeWriter(pool)
  await writer.start()
  for (let from = 0; from < leaves; from += batchEvents) {
    const events = Array.from({ length: Math.min(batchEvents, leaves - from) }, (_, n) => eventAt(from + n))
    const position = events.at(-1)?.position
    if (position !== undefined) await writer.append({ events, position })
  }
  await pool.query('vacuum analyze audit.tiles')
}

const eventId = randomUUID()
const positionOf = (leaf: number) => BigInt(leaf) * 700n
const [metadata, data] = [Buffer.from('{}'), Buffer.from('{}')]

function eventAt(leaf: number): RawEvent {
  const commit = positionOf(leaf)
  const position = { commit, prepare: commit, eventId: leaf === 0 ? randomUUID() : eventId }
  const fixed = { id: eventId, type: 'Any', contentType: 'application/json', metadata, data, created: new Date(0) }
  return { ...fixed, stream: `payment-${leaf}`, revision: 0n, position }
}
