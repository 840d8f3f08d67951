// Delivers signed checkpoints: into the log, and to where they are published.
import { setTimeout as sleep } from 'node:timers/promises'
import { auditCheckpointFold, recordCheckpoint } from '@paylog/domain/auditCheckpoint'
import { type EventStore, newStream } from '@paylog/event-store/eventStore'
import { auditCheckpointStream } from '@paylog/event-store/streamName'
import { keepRunning } from '@paylog/runtime/process/keepRunning'
import type { Logger } from '@paylog/runtime/telemetry/log'
import type { Pool } from 'pg'
import { openCheckpoint } from './checkpoint.ts'
import { unlessWrong, type VerifierKey } from './note.ts'
import { type StoredCheckpoint, undeliveredCheckpoints } from './treeStore.ts'

/** Pause after a checkpoint could not be recorded or published. */
const deliveryPauseMs = 10_000
/** How often it looks for checkpoints to deliver. */
const deliveryPollMs = 1_000

export type Place = 'recorded_at' | 'published_at'
export type Deliver = (checkpoint: StoredCheckpoint, signal: AbortSignal) => Promise<void>

export async function recordInLog(store: Pick<EventStore, 'handle'>, checkpoint: StoredCheckpoint): Promise<void> {
  const { size, root, note, made_at } = checkpoint
  const id = `checkpoint-${size}`
  const event = { size, root_hash: root.toString('base64'), note, occurred_at: made_at.toISOString() }
  await store.handle({
    stream: auditCheckpointStream(size),
    fold: auditCheckpointFold,
    decide: (recorded) => recordCheckpoint(recorded, event),
    metadata: { correlationId: id, causationId: id, actor: 'projector' },
    assumed: newStream(auditCheckpointFold),
  })
}

/** Delivers checkpoints in their order, each until it worked. Rows that no key of ours has signed are not delivered. */
export async function keepDelivering(options: {
  readonly pool: Pool
  readonly place: Place
  readonly deliver: Deliver
  readonly verifiers: readonly VerifierKey[]
  readonly signal: AbortSignal
  readonly log: Logger
}): Promise<void> {
  const { pool, place, deliver, verifiers, signal, log } = options
  const isOurs = ({ note, size }: StoredCheckpoint) =>
    unlessWrong(() => openCheckpoint(note, ...verifiers))?.size === size
  const deliverAll = async () => {
    const checkpoints = (await undeliveredCheckpoints(pool, place)).filter(isOurs)
    for (const checkpoint of checkpoints) {
      if (signal.aborted) return
      await deliver(checkpoint, signal)
      await pool.query(`update audit.checkpoints set ${place} = now() where size = $1`, [checkpoint.size])
    }
    if (checkpoints.length === 0) await sleep(deliveryPollMs, undefined, { signal })
  }
  await keepRunning(deliverAll, {
    signal,
    pauseMs: deliveryPauseMs,
    onError: (err) =>
      log.warn({ err, place, pauseMs: deliveryPauseMs }, 'a checkpoint could not be delivered, trying again'),
  })
}
