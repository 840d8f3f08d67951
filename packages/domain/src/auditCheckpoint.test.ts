// A checkpoint is in the log once, and one of another tree beside it.
import t from 'tap'
import { recordCheckpoint } from './auditCheckpoint.ts'

t.test('a checkpoint is recorded once, and one of the same size with another root as well', (t) => {
  const checkpoint = { size: 42, root_hash: 'AA==', note: 'a note', occurred_at: '2026-11-01T11:58:02.802Z' }
  const other = { ...checkpoint, root_hash: 'AQ==' }
  t.same(recordCheckpoint(null, checkpoint), [{ type: 'CheckpointSigned', data: checkpoint }])
  t.same(recordCheckpoint(checkpoint, { ...checkpoint, occurred_at: '2026-11-01T11:59:02.802Z' }), [])
  t.same(recordCheckpoint(checkpoint, other), [{ type: 'CheckpointSigned', data: other }])
  t.end()
})
