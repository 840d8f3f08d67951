// `audit prove payment`: writes a file that proves the events of a payment to everyone who has the verifier key.
import { setTimeout as sleep } from 'node:timers/promises'
import { unverifiedCheckpoint } from '@paylog/audit-log/checkpoint'
import { leafHash } from '@paylog/audit-log/leaf'
import { type PaymentProof, provePayment } from '@paylog/audit-log/paymentProof'
import { verifyInclusion } from '@paylog/audit-log/proofs'
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
import { decodedHashes, problemOf } from './hashes.ts'

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
    const file = await proofOf({ log, pool: open.pool(), signal, audit }, id, wait)
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

async function proofOf({ log, pool, signal, audit }: Sources, id: string, waitMs: number): Promise<PaymentProof> {
  const events = await readStreamEvents(log, paymentStream(id), {})
  if (events.length === 0) throw new OpsError(`There is no payment ${id}.`)
  await audit({ action: 'show_payment', target: { kind: 'payment', id }, details: { proof: true } })
  const giveUpAt = performance.now() + waitMs
  for (;;) {
    const proof = await provePayment(pool, id, events)
    if (!('missing' in proof)) {
      requireIncluded(events, proof)
      return proof
    }
    if (performance.now() >= giveUpAt) throw new OpsError(proof.missing)
    await sleep(pollMs, undefined, { signal })
  }
}

/** The log and the tree must agree, or the proof would fail elsewhere. */
function requireIncluded(events: readonly RawEvent[], { checkpoint, events: proven }: PaymentProof): void {
  const { size, root } = unverifiedCheckpoint(checkpoint)
  for (const [place, event] of events.entries()) {
    const { index = 0, proof = [] } = proven[place] ?? {}
    const claim = { index, size, root, leafHash: leafHash(event), proof: decodedHashes(proof) }
    if (problemOf(() => verifyInclusion(claim)) === undefined) continue
    throw new OpsError(
      `${describeEvent(event)} is not the event that the tree has: the log or the tree was changed. \`audit verify\` says where.`,
      { exitCode: exitDifferent },
    )
  }
}

function writtenText(path: string, { events, checkpoint }: PaymentProof): string {
  const { origin, size } = unverifiedCheckpoint(checkpoint)
  return [
    `${path}: ${counted(events.length, 'event')}, proven by the checkpoint of ${origin} over the first ${size} events of the log.`,
    `\`audit check-proof ${path} --key KEY\` verifies it anywhere.`,
  ].join('\n')
}
