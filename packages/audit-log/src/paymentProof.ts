// The proof of a payment: its events, and the hashes that lead from each of them to a signed checkpoint. `@paylog/client/verifyProof`
// verifies it.
import type { RawEvent } from '@paylog/event-store/read/rawEvent'
import type { Pool } from 'pg'
import { type Static, type TProperties, Type } from 'typebox'
import { unverifiedCheckpoint } from './checkpoint.ts'
import type { LeafFields } from './leaf.ts'
import { inclusionProof } from './proofs.ts'
import { coveringCheckpoint, leafIndexes, newestCheckpoint, storedHashes } from './treeStore.ts'

/** Raised whenever the layout changes. */
export const proofFormat = 1

/** What is not verified must not be there: a reader would believe it. */
const closed = <Properties extends TProperties>(properties: Properties, description: string) =>
  Type.Object(properties, { additionalProperties: false, description })

const ProvenEvent = closed(
  {
    index: Type.Integer({ minimum: 0, description: 'Of its leaf in the tree of the log' }),
    stream: Type.String(),
    revision: Type.String({ pattern: '^\\d{1,20}$' }),
    id: Type.String(),
    type: Type.String(),
    data: Type.Optional(Type.String({ description: 'As recorded, as text: personal data in it is sealed' })),
    data_base64: Type.Optional(Type.String({ description: 'In place of data that is not UTF-8' })),
    metadata: Type.Optional(Type.String()),
    metadata_base64: Type.Optional(Type.String()),
    proof: Type.Array(Type.String(), { description: 'The hashes in base64 from the sibling of the leaf upwards' }),
  },
  'An event with the bytes that were recorded',
)
export type ProvenEvent = Static<typeof ProvenEvent>

export const PaymentProof = Type.Object(
  {
    format: Type.Literal(proofFormat),
    payment: Type.String({ description: 'The id of the payment' }),
    checkpoint: Type.String({ description: 'The signed note with size and root of the tree' }),
    events: Type.Array(ProvenEvent),
  },
  { additionalProperties: false, title: 'PaymentProof' },
)
export type PaymentProof = Static<typeof PaymentProof>

/**
 * Proves all events of a payment.
 * @param events of its stream, from the first on
 * @returns `missing`: why there is no proof yet. The newest event comes into the tree within seconds, and under a checkpoint with the
 *   next one
 * @throws errors of Postgres, IncompleteTreeError
 */
export async function provePayment(
  pool: Pool,
  payment: string,
  events: readonly RawEvent[],
): Promise<PaymentProof | { readonly missing: string }> {
  const found = await leafIndexes(
    pool,
    events.map(({ position }) => position.commit),
  )
  const indexes = found.filter((index) => index !== undefined)
  const isInTree = indexes.length === events.length
  const checkpoint = isInTree ? await coveringCheckpoint(pool, Math.max(...indexes) + 1) : undefined
  if (checkpoint === undefined) return { missing: await missingText(pool, isInTree) }
  const { note } = checkpoint
  const { size } = unverifiedCheckpoint(note)
  const read = storedHashes(pool)
  const proven: ProvenEvent[] = []
  for (const [place, event] of events.entries()) {
    const index = indexes[place] ?? 0
    proven.push(provenEvent(event, index, await inclusionProof(index, size, read)))
  }
  return { format: proofFormat, payment, checkpoint: note, events: proven }
}

async function missingText(pool: Pool, isInTree: boolean): Promise<string> {
  const newest = await newestCheckpoint(pool)
  const last =
    newest === undefined
      ? 'there is none yet'
      : `the newest one is of ${newest.made_at.toISOString()} and covers the first ${newest.size} events`
  const reason = isInTree ? 'No checkpoint covers' : 'The tree does not have'
  return `${reason} the newest event of this payment yet: ${last}. The projector makes them, if AUDIT_SIGNING_KEY is set.`
}

export function provenEvent(event: LeafFields, index: number, proof: readonly Buffer[]): ProvenEvent {
  const { stream, revision, id, type, data, metadata } = event
  return {
    index,
    stream,
    revision: revision.toString(),
    id,
    type,
    ...content('data', data),
    ...content('metadata', metadata),
    proof: proof.map((hash) => hash.toString('base64')),
  }
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

function content<Name extends 'data' | 'metadata'>(name: Name, bytes: Uint8Array) {
  try {
    return { [name]: utf8.decode(bytes) }
  } catch {
    return { [`${name}_base64`]: Buffer.from(bytes).toString('base64') }
  }
}
