// `audit prove payment`: writes a file that proves the events of a payment to everyone who has the verifier key.
import { setTimeout as sleep } from 'node:timers/promises'
import { unverifiedCheckpoint } from '@paylog/audit-log/checkpoint'
import { leafHash } from '@paylog/audit-log/leaf'
import { inclusionProof, verifyInclusion } from '@paylog/audit-log/proofs'
import { coveringCheckpoint, leafIndexes, newestCheckpoint, storedHashes } from '@paylog/audit-log/treeStore'
import { parseDurationMs } from '@paylog/domain/duration'
import type { RawClient } from '@paylog/event-store/connection/calls'
import { describeEvent, type RawEvent } from '@paylog/event-store/read/rawEvent'
import { readStreamEvents } from '@paylog/event-store/read/reads'
import { paymentStream } from '@paylog/event-store/streamName'
import type { Audit } from '../auditTrail.ts'
import { exitDifferent, OpsError, UsageError } from '../command.ts'
import { defineCommand } from '../defineCommand.ts'
import { writeNewFile } from '../files.ts'
import { flag, text, value } from '../options.ts'
import { readPaymentId } from '../payments/paymentOptions.ts'
import type { Pool } from '../system.ts'
import { counted } from '../texts.ts'
import { format, type ProofFile, type ProvenEvent, problemOf, provenEvent } from './proofFile.ts'

/** A checkpoint is made every minute. */
const defaultWait = '90s'
const pollMs = 250

export const auditProvePayment = defineCommand({
  summary: 'Write a proof that the log has the events of a payment, with the events',
  args: ['ID'],
  options: {
    out: text('FILE', 'the file, readable by its owner only; without it the proof is printed'),
    wait: value(
      'D',
      `how long to wait for a checkpoint that covers the newest event (default ${defaultWait}); 0s does not wait`,
      readDuration,
    ),
    force: flag('replaces an existing file'),
  },
  audited: 'reason',
  about: [
    'The file has the signed checkpoint and, for each event of the payment, its bytes as recorded and the hashes that lead',
    'from them to the checkpoint. `audit check-proof FILE` verifies it anywhere. Personal data in it is sealed.',
    '',
    'Exits with 3 when an event is not the one of the tree; `audit verify` says more. Exits with 1 when no checkpoint covers',
    'the newest event yet.',
  ],
  onInterrupt: 'Interrupted: nothing was written.',
  async run({ args, options, open, signal, audit }) {
    const { out, wait = readDuration(defaultWait), force: replaces } = options
    const id = readPaymentId(args[0])
    const log = await open.rawLog(signal)
    const file = await provePayment({ log, pool: open.pool(), signal, audit }, id, wait)
    const content = JSON.stringify(file, undefined, 2)
    if (out === undefined) return { text: content }
    signal.throwIfAborted()
    await writeNewFile(out, `${content}\n`, { replaces })
    return { text: writtenText(out, file) }
  },
})

function readDuration(text: string): number {
  const ms = parseDurationMs(text)
  if (ms === undefined) throw new UsageError('--wait must be a duration such as 90s')
  return ms
}

type Sources = {
  readonly log: RawClient
  readonly pool: Pool
  readonly signal: AbortSignal
  readonly audit: Audit
}

async function provePayment({ log, pool, signal, audit }: Sources, id: string, waitMs: number): Promise<ProofFile> {
  const events = await readStreamEvents(log, paymentStream(id), {})
  if (events.length === 0) throw new OpsError(`There is no payment ${id}.`)
  await audit({ action: 'show_payment', target: { kind: 'payment', id }, details: { proof: true } })
  const { indexes, note } = await covered(pool, events, waitMs, signal)
  const { size, root } = unverifiedCheckpoint(note)
  const read = storedHashes(pool)
  const proven: ProvenEvent[] = []
  for (const [place, event] of events.entries()) {
    const index = indexes[place] ?? 0
    const proof = await inclusionProof(index, size, read)
    requireIncluded(event, { index, size, root, proof })
    proven.push(provenEvent(event, index, proof))
  }
  return { format, payment: id, checkpoint: note, events: proven }
}

/**
 * Waits until a checkpoint covers all events.
 * @throws OpsError when there is none in time
 */
async function covered(
  pool: Pool,
  events: readonly RawEvent[],
  waitMs: number,
  signal: AbortSignal,
): Promise<{ readonly indexes: readonly number[]; readonly note: string }> {
  const positions = events.map(({ position }) => position.commit)
  const giveUpAt = performance.now() + waitMs
  for (;;) {
    const indexes = (await leafIndexes(pool, positions)).filter((index) => index !== undefined)
    const isComplete = indexes.length === events.length
    const checkpoint = isComplete ? await coveringCheckpoint(pool, Math.max(...indexes) + 1) : undefined
    if (checkpoint !== undefined) return { indexes, note: checkpoint.note }
    if (performance.now() >= giveUpAt) throw new OpsError(await uncoveredText(pool, isComplete))
    await sleep(pollMs, undefined, { signal })
  }
}

async function uncoveredText(pool: Pool, isComplete: boolean): Promise<string> {
  const newest = await newestCheckpoint(pool)
  const last =
    newest === undefined
      ? 'there is none yet'
      : `the newest one is of ${newest.made_at.toISOString()} and covers the first ${newest.size} events`
  const reason = isComplete ? 'No checkpoint covers' : 'The tree does not have'
  return `${reason} the newest event of this payment yet: ${last}. The projector makes them, if AUDIT_SIGNING_KEY is set.`
}

/** The log and the tree must agree, or the proof would fail elsewhere. */
function requireIncluded(event: RawEvent, claim: Omit<Parameters<typeof verifyInclusion>[0], 'leafHash'>): void {
  if (problemOf(() => verifyInclusion({ ...claim, leafHash: leafHash(event) })) === undefined) return
  throw new OpsError(
    `${describeEvent(event)} is not the event that the tree has: the log or the tree was changed. \`audit verify\` says where.`,
    { exitCode: exitDifferent },
  )
}

function writtenText(path: string, { events, checkpoint }: ProofFile): string {
  const { origin, size } = unverifiedCheckpoint(checkpoint)
  return [
    `${path}: ${counted(events.length, 'event')}, proven by the checkpoint of ${origin} over the first ${size} events of the log.`,
    `\`audit check-proof ${path} --key KEY\` verifies it anywhere.`,
  ].join('\n')
}
