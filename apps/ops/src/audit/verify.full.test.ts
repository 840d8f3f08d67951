// A log whose bytes were changed on disk: `audit verify` names the first position that is wrong.
import { randomUUID } from 'node:crypto'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { newSigningKey, noteText, parseSigningKey, parseVerifierKey, signNote } from '@paylog/audit-log/note'
import { writeStateFile } from '@paylog/audit-log/stateFile'
import t from 'tap'
import { auditHarness } from '../testing/auditHarness.ts'
import { runOps } from '../testing/runOps.ts'
import { storedCheckpoints } from './checkpoints.ts'

const harness = await auditHarness(t)
const { append, sign, verify, sql, run, rebuildTree, publish, backup, rows, directory } = harness

/** Two events each in 12 streams, in turns, and a checkpoint after each twelve and the first five. */
for (const round of [0, 1]) {
  for (let number = 0; number < 12; number++) {
    const data = `{"round":${round},"number":${number}}`
    if (round === 0 && number === 5) await sign()
    await append(`payment-${number}`, { type: round === 0 ? 'Began' : 'Ended', data, metadata: '{"actor":"guest"}' })
  }
  await sign()
}
await append('payment-12', { type: 'Began' })
await sign()
await append('payment-13', { type: 'Began' })
await harness.grow()
const published = await publish('published')
const restore = await backup()
const leaves = (await rows()).filter(({ stream }) => !stream.startsWith('$'))
const positionOf = (index: number) => leaves[index]?.position ?? 0n
t.afterEach(() => restore())

t.test('audit verify says up to where an unchanged log is proven', async (t) => {
  const { code, verdict } = await verify('--against', published)
  t.equal(code, 0)
  t.match(verdict, { valid: true, events: 26, tree_size: 26, checkpoints: 8, difference: null, tree_damage: null })
  t.match(verdict.proven, { size: 25, event: { stream: 'payment-12', position: String(positionOf(24)) } })
  const { stdout } = await run('verify')
  t.match(
    stdout,
    /^The log is proven up to position \d+, payment-12@0 .*: its first 25 events .*; 4 checkpoints matched\.$/m,
  )
  t.match(stdout, /^No checkpoint covers what follows yet: 1 event, 1 of them as in the stored tree\.$/m)
})

const columns = {
  data: `data = convert_to('{"round":1,"number":9}', 'UTF8')`,
  metadata: `metadata = convert_to('{"actor":"guesT"}', 'UTF8')`,
  type: "type = 'Ender'",
  event_id: `event_id = '${randomUUID()}'`,
} as const

t.test('a changed column of an event is found at its position', async (t) => {
  for (const [column, change] of Object.entries(columns)) {
    await sql(`update event_store.events set ${change} where position = $1`, [positionOf(15)])
    const { code, verdict } = await verify()
    t.equal(code, 3, column)
    t.match(verdict.difference, { kind: 'changed', index: 15, position: String(positionOf(15)) }, column)
    t.match(verdict.difference, { event: { stream: 'payment-3', revision: '1' }, by: { size: 24 } }, column)
    t.match(verdict.proven, { size: 12, event: { position: String(positionOf(11)) } }, column)
    await restore()
  }
  await sql(`update event_store.events set ${columns.data} where position = $1`, [positionOf(15)])
  const { code, stdout, stderr } = await run('verify')
  t.equal(code, 3)
  t.match(stdout, new RegExp(`^Position ${positionOf(15)}: payment-3@1 \\(Ended, .*\\) was changed\\.\n`))
  const both = 'the checkpoint over 24 events (the stored checkpoint 24), and does to the checkpoint over 12 events'
  t.match(stdout, `The log does not lead to ${both}`)
  t.match(stderr, /The log is not proven\.\n$/)
})

t.test('a missing event is named by its position, stream and revision', async (t) => {
  await sql('delete from event_store.events where position = $1', [positionOf(7)])
  const { code, verdict } = await verify()
  t.equal(code, 3)
  t.match(verdict.difference, {
    kind: 'missing',
    index: 7,
    position: String(positionOf(7)),
    by: { size: 12 },
  })
  t.match(verdict.difference, { missing: { stream: 'payment-7', revision: '0' }, event: { stream: 'payment-8' } })
  const { stdout } = await run('verify')
  t.match(stdout, `Position ${positionOf(7)}: an event, payment-7@0, is missing after payment-6@0 (Began, `)
})

t.test('a missing event that was the last one of its stream is named by its position', async (t) => {
  await sql('delete from event_store.events where position = $1', [positionOf(15)])
  const { verdict } = await verify()
  t.match(verdict.difference, { kind: 'missing', index: 15, position: String(positionOf(15)), missing: null })
  t.match((await run('verify')).stdout, `Position ${positionOf(15)}: an event is missing after payment-2@1 (Ended, `)
})

t.test('a truncated log is found while the tree or a checkpoint of yesterday has its events', async (t) => {
  await sql('delete from event_store.events where position >= $1', [positionOf(20)])
  const { code, verdict } = await verify()
  t.equal(code, 3)
  t.match(verdict.difference, { kind: 'truncated', index: 20, position: String(positionOf(20)), count: 6 })
  t.match(verdict.difference, { after: { stream: 'payment-7', revision: '1' }, by: { size: 24 } })
  t.match(verdict.proven, { size: 12 })

  await sql('delete from audit.checkpoints where size > 20')
  await rebuildTree()
  t.match(await verify(), { code: 0 }, 'nothing inside shows a tail that was removed everywhere')
  const outside = await verify('--against', published)
  t.equal(outside.code, 3)
  t.match(outside.verdict.difference, { kind: 'truncated', index: 20, count: 4, by: { size: 24 } })
  t.match(outside.verdict.difference.by.source, /published\/checkpoint-24$/)
  t.match(outside.verdict.proven, { size: 12 })
})

t.test('when the tree was changed with the log, the first wrong and the last right checkpoint are named', async (t) => {
  await sql(`update event_store.events set ${columns.data} where position = $1`, [positionOf(15)])
  await rebuildTree()
  const { code, verdict } = await verify()
  t.equal(code, 3)
  t.match(verdict.difference, { kind: 'checkpoint', index: 12, after: { stream: 'payment-11' }, by: { size: 24 } })
  t.match(verdict.proven, { size: 12 })
  t.match(
    (await run('verify')).stdout,
    /^The log was changed after payment-11@0 .* or later, and the stored tree with it/,
  )
})

t.test('a changed or incomplete tree beside a right log is told apart from a changed log', async (t) => {
  await sql("update audit.tiles set hashes = overlay(hashes placing '\\x00'::bytea from 500 for 1) where level = 0")
  const changed = await verify()
  t.equal(changed.code, 3)
  t.match(changed.verdict, { difference: null, tree_damage: { kind: 'changed', index: 15 }, proven: { size: 25 } })
  await restore()
  await sql('delete from audit.tiles')
  const gone = await verify()
  t.match(gone, { code: 3, verdict: { difference: null, tree_problem: /no tile 0\/0/, proven: { size: 25 } } })
})

t.test('a tree that was changed before a right checkpoint is not taken for a log that was changed later', async (t) => {
  await sql("update audit.tiles set hashes = overlay(hashes placing '\\x00'::bytea from 100 for 1) where level = 0")
  await sql(`update event_store.events set ${columns.data} where position = $1`, [positionOf(15)])
  const { code, verdict } = await verify()
  t.equal(code, 3)
  t.match(verdict, { difference: { kind: 'checkpoint', index: 12, by: { size: 24 } }, tree_damage: { index: 3 } })
})

t.test(
  'checkpoints that the key did not sign are reported, and the log is still compared with the others',
  async (t) => {
    await sql("update audit.checkpoints set note = replace(note, 'paylog.test', 'paylog.evil') where size = 12")
    const path = join(directory, 'no-checkpoint')
    writeFileSync(path, 'nothing\n')
    const { code, verdict } = await verify('--against', path)
    t.equal(code, 3)
    t.match(verdict, { difference: null, checkpoints: 3, invalid_checkpoints: 2, proven: { size: 25 } })
    t.match(verdict.invalid, [{ source: path }, { source: 'the stored checkpoint 12' }])
    const { verifierKey: other } = newSigningKey('paylog.test/log')
    t.match((await verify('--key', other)).verdict, {
      valid: false,
      checkpoints: 0,
      invalid_checkpoints: 4,
      proven: null,
    })
  },
)

t.test('stored checkpoints that are signed while the log is verified are left out', async (t) => {
  const sizes = async (upTo: number) => {
    const found: number[] = []
    const verifiers = [parseVerifierKey(harness.verifierKey)]
    for await (const { size } of storedCheckpoints(harness.pool, verifiers, { upTo, onInvalid: t.fail }))
      found.push(size)
    return found
  }
  t.same(await sizes(25), [5, 12, 24, 25])
  t.same(await sizes(23), [5, 12])
})

t.test('audit verify fails with a sentence when it cannot check', async (t) => {
  t.match(await verify('--against', 'nowhere'), { code: 1, verdict: /^nowhere does not exist/ })
  t.match(await verify('--key', 'nonsense'), { code: 1, verdict: /neither a verifier key nor a file/ })
})

t.test('a log that there is nothing to compare with is not proven', async (t) => {
  await sql('delete from audit.checkpoints')
  t.match(await verify(), { code: 3, verdict: { valid: false, proven: null, difference: null } })
  t.match((await run('verify')).stdout, /^Nothing is proven: no checkpoint matches the 26 events of the log\.$/m)
})

t.test('a rollback of log, tree and checkpoints is shown by the state file of the projector', async (t) => {
  const note = readFileSync(join(published, 'checkpoint-25'), 'utf8')
  const file = join(directory, 'state')
  writeStateFile(file, { checkpoint: note, ended_size: -1 })
  const withFile = { ...harness.environment, AUDIT_STATE_FILE: file }
  const proven = await runOps(['audit', 'verify', '--json'], withFile)
  t.match({ code: proven.code, ...JSON.parse(proven.stdout) }, { code: 0, valid: true, checkpoints: 5 })
  await sql('delete from event_store.events where position >= $1', [positionOf(20)])
  await sql('delete from audit.checkpoints where size > 20')
  await rebuildTree()
  t.match(await verify(), { code: 0 }, 'Postgres itself has nothing that shows it')
  const found = await runOps(['audit', 'verify', '--json'], withFile)
  t.match({ code: found.code, ...JSON.parse(found.stdout) }, { code: 3, difference: { kind: 'truncated', count: 5 } })
})

t.test('checkpoints of a former and of a new key prove the log with both verifier keys', async (t) => {
  const { signingKey, verifierKey } = newSigningKey('paylog.test/log')
  await sql('update audit.checkpoints set note = $1 where size = 24', [
    signNote(noteText(readFileSync(join(published, 'checkpoint-24'), 'utf8')), parseSigningKey(signingKey)),
  ])
  t.match(await verify(), { code: 3, verdict: { invalid_checkpoints: 1 } })
  const both = { ...harness.environment, AUDIT_VERIFIER_KEYS: verifierKey }
  t.match(await runOps(['audit', 'verify'], both), { code: 0 })
})
