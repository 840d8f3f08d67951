// The log's tree, kept by projectors that are killed, and its part of the health page.
import { openCheckpoint } from '@paylog/audit-log/checkpoint'
import { newSigningKey, parseVerifierKey } from '@paylog/audit-log/note'
import { rawEvents, rootOfEvents } from '@paylog/audit-log/testing/recorderHarness'
import { treeRoot } from '@paylog/audit-log/tree'
import { newestCheckpoint, readCheckpoints, readTree, storedHashes } from '@paylog/audit-log/treeStore'
import { killUnderLoad, projectorHarness } from '@paylog/projections/testing/projectorHarness'
import { waitFor } from '@paylog/testing/waitFor'
import t from 'tap'
import { auditReadiness } from './audit.ts'

const { signingKey, verifierKey } = newSigningKey('example.com/payments')
const verifier = parseVerifierKey(verifierKey)
const settings = { AUDIT_SIGNING_KEY: signingKey, AUDIT_CHECKPOINT_INTERVAL: '200ms', HEALTH_PORT: '0' }

t.test('projectors killed under load beside a standby leave a correct tree and consistent checkpoints', async (t) => {
  const harness = await projectorHarness(t)
  const { pool, store } = harness
  const [first] = await killUnderLoad(t, harness, { longestPauseMs: 600, env: settings })
  const isSigned = async () => {
    const last = await newestCheckpoint(pool)
    const tree = await readTree(pool)
    return tree.unsignedLeaves === 0 && last !== undefined && last.recorded_at !== null
  }
  await waitFor(isSigned, { what: 'all events to be signed', timeoutMs: 30_000 })
  const expected = (await rawEvents(store)).length
  await waitFor(async () => (await readTree(pool)).size >= expected, { what: 'the tree to be complete' })
  const { size } = await readTree(pool)
  const events = await rawEvents(store)
  t.same(await treeRoot(size, storedHashes(pool)), rootOfEvents(events, size))
  const checkpoints = await Array.fromAsync(readCheckpoints(pool))
  t.ok(checkpoints.length > 1)
  for (const { note } of checkpoints) {
    const checkpoint = openCheckpoint(note, verifier)
    t.same(checkpoint.root, rootOfEvents(events, checkpoint.size), `the checkpoint of ${checkpoint.size} events`)
  }
  const health = String(first?.detail.healthUrl)
  const page = await (await fetch(`${health}/metrics`)).text()
  t.match(page, `audit_tree_size ${size}`)
  t.match(page, 'audit_tree_stopped 0')
  t.match(page, 'audit_unpublished_seconds 0')
})

t.test('a stopped tree, or one that is behind its checkpoint, is not ready; a standby is', (t) => {
  const figures = {
    size: 5,
    unsignedLeaves: 1,
    stoppedBecause: null,
    last: { size: 4, ageSeconds: 1 },
    unpublishedSeconds: undefined,
  }
  const running = { role: 'running', isConnected: true } as const
  t.same(auditReadiness(running, figures), { role: 'running', connected: true, size: 5, signed_size: 4, unsigned: 1 })
  t.match(auditReadiness(running, { ...figures, last: undefined }), { role: 'running', signed_size: null })
  t.match(auditReadiness(running, { ...figures, size: 3 }), { ok: false, size: 3, signed_size: 4 })
  t.match(auditReadiness({ ...running, isConnected: false }, figures), { ok: false, connected: false })
  t.match(auditReadiness({ ...running, role: 'stopped' }, figures), { ok: false, role: 'stopped' })
  t.same(auditReadiness({ role: 'standing by', isConnected: false }, figures), { role: 'standing by' })
  t.end()
})
