// Signed checkpoints of the log's Merkle tree. They are in the log too, so that copies and exports of it have them.
import { type Static, Type } from 'typebox'
import type { EventsOf, Fold } from './events.ts'
import { Instant } from './fields.ts'

export const auditCheckpointEvents = {
  CheckpointSigned: Type.Object({
    /** Events that the tree had as leaves. */
    size: Type.Integer(),
    /** In base64. */
    root_hash: Type.String(),
    /** The signed note: origin, size, root and signature. */
    note: Type.String(),
    occurred_at: Instant,
  }),
}
export type AuditCheckpointEvent = EventsOf<typeof auditCheckpointEvents>
export type SignedCheckpoint = Static<typeof auditCheckpointEvents.CheckpointSigned>

export const auditCheckpointFold: Fold<SignedCheckpoint | null, AuditCheckpointEvent> = {
  initialState: null,
  evolve: (_, { data }) => data,
}

/** Records a checkpoint once. After a restart of the tree, the log may have another one of the same size, with another root. */
export const recordCheckpoint = (
  recorded: SignedCheckpoint | null,
  checkpoint: SignedCheckpoint,
): readonly AuditCheckpointEvent[] =>
  recorded?.root_hash === checkpoint.root_hash ? [] : [{ type: 'CheckpointSigned', data: checkpoint }]
