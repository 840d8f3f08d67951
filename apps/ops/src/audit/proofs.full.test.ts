// Proofs and exports of a real log, verified by us and by an implementation that is not ours.
import { createHash, randomUUID } from 'node:crypto'
import { readFileSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { manifestOf } from '@paylog/event-store/export/manifest'
import t from 'tap'
import { auditHarness } from '../testing/auditHarness.ts'
import { linesOf, readManifestOf, writeLines } from '../testing/exportHarness.ts'
import { runOps } from '../testing/runOps.ts'
import { buildJudge } from './testing/judge.ts'

const harness = await auditHarness(t)
const { append, sign, run, sql, backup, directory, environment, verifierKey, newPath, publish } = harness
const judge = await buildJudge(t, process.env.PATH)
const needsJudge = { skip: judge === undefined && 'needs go and golang-golang-x-mod-dev: NO outside judge' }
const payment = randomUUID()
const stream = `payment-${payment}`
const occurred = (day: number) => `{"occurred_at":"2026-11-0${day}T00:00:00.000Z",\n"word":"ñ"}`

await append('other-1', { data: '\0\xff', contentType: 'application/octet-stream' })
await append(stream, { type: 'PaymentInitiated', data: Buffer.from(occurred(1)).toString('latin1') })
for (let number = 0; number < 300; number++) await append(`other-${number % 7}`, { data: `{"number":${number}}` })
const older = await sign()
await append(stream, { type: 'PaymentSucceeded', data: '{"occurred_at":"2026-11-02T00:00:00.000Z"}', metadata: '' })
await append('other-1', { data: '{\n}' })
const newer = await sign()
const published = await publish('published')
// An export with --until has neither the record of itself nor anything else that commands append.
await sql('update event_store.events set created_ticks = created_ticks - $1', ['36000000000'])
const restore = await backup()
t.afterEach(() => restore())

const prove = (out: string, ...flags: readonly string[]) =>
  run('prove', 'payment', payment, '--out', out, '--wait', '0s', ...flags)
const offline = (...args: readonly string[]) => runOps([...args, '--key', verifierKey], { DATA_DIR: directory })

t.test('audit prove payment writes a file that proves all events of the payment offline', async (t) => {
  const path = join(directory, 'proof.json')
  const proven = await prove(path)
  t.match(proven, {
    code: 0,
    stdout: /proof\.json: 2 events, proven by the checkpoint of paylog\.test\/log over the first 304 /,
  })
  t.equal(statSync(path).mode & 0o777, 0o600)
  const { rows: actions } = await sql(
    "select convert_from(data, 'UTF8')::json as action from event_store.events where type = 'AdministratorActed'",
  )
  t.match(actions, [
    { action: { action: 'show_payment', target: { id: payment }, reason: null, details: { proof: true } } },
  ])
  t.match(await prove(path), { code: 1, stderr: /exists\. Name another file, or replace it with --force\.\n/ })
  t.match(await prove(path, '--force'), { code: 0 })
  const checked = await offline('audit', 'check-proof', path)
  t.match(checked, { code: 0, stderr: '' })
  t.match(
    checked.stdout,
    / {2}0 +PaymentInitiated +2026-11-01T00:00:00\.000Z +1\n.* {2}1 +PaymentSucceeded +2026-11-02/s,
  )
  const printed = await run('prove', 'payment', payment, '--wait', '0s')
  t.same(JSON.parse(printed.stdout), JSON.parse(readFileSync(path, 'utf8')))
})

t.test(
  'the outside judge accepts our proofs, and rejects them as we do when a bit is flipped',
  needsJudge,
  async (t) => {
    if (judge === undefined) return
    const path = join(directory, 'judged.json')
    await prove(path)
    t.same(await judge(verifierKey, path), { accepts: true, says: '2 events are in the tree of size 304' })
    const text = readFileSync(path, 'utf8')
    const { checkpoint, events } = JSON.parse(text)
    const hash: string = events[0].proof[3]
    const flipped = Buffer.from(hash, 'base64')
    flipped[9] = (flipped[9] ?? 0) ^ 1
    const changes: readonly (readonly [string, string])[] = [
      [hash, flipped.toString('base64')],
      ['"index": 1,', '"index": 2,'],
      ['"type": "PaymentInitiated"', '"type": "PaymentInitiateD"'],
      ['2026-11-01', '2026-11-03'],
      [',\\n', ', '],
      ['"revision": "0"', '"revision": "1"'],
      ['\\n304\\n', '\\n305\\n'],
      [JSON.stringify(checkpoint).slice(-20, -10), 'AAAAAAAAAA'],
    ]
    for (const [from, to] of changes) {
      t.ok(text.includes(from), from)
      writeFileSync(
        path,
        text.replace(from, () => to),
      )
      t.match(await judge(verifierKey, path), { accepts: false }, from)
      t.match(await offline('audit', 'check-proof', path), { code: 3 }, from)
    }
  },
)

t.test('audit consistency proves that a checkpoint extends another, and the outside judge agrees', async (t) => {
  const files = [older, newer].map((size) => join(published, `checkpoint-${size}`))
  const proven = await run('consistency', ...files, '--json')
  t.equal(proven.code, 0, proven.stderr)
  t.match(JSON.parse(proven.stdout), { older: { size: 302 }, newer: { size: 304 } })
  t.equal((await run('consistency', '302', '304', '--json')).stdout, proven.stdout)
  t.match(await run('consistency', '100', '304'), {
    code: 0,
    stdout: /older {2}100 .*, not signed\n.*newer {2}304 .*, signed\n/s,
  })
  t.match(await run('consistency', '304', '302'), { code: 2, stderr: /A \(304 events\) is larger than B/ })
  t.match(await run('consistency', '1', '999'), { code: 1, stderr: /The stored tree has 304 events, not 999/ })
  if (judge === undefined) return
  const path = join(directory, 'consistency.json')
  writeFileSync(path, proven.stdout)
  t.same(await judge(verifierKey, path), { accepts: true, says: 'the tree of size 304 extends that of size 302' })
  const { proof } = JSON.parse(proven.stdout)
  writeFileSync(path, proven.stdout.replace(proof[0], proof[1]))
  t.match(await judge(verifierKey, path), { accepts: false })
})

t.test('audit consistency exits with 3 when the tree was changed between the checkpoints', async (t) => {
  await sql("update event_store.events set data = convert_to('{}', 'UTF8') where stream = 'other-3' and revision = 5")
  await harness.rebuildTree()
  t.match(await run('consistency', '302', '304'), { code: 3, stderr: /does not extend the checkpoint of 302 events/ })
})

t.test('a payment whose event is not that of the tree is not proven', async (t) => {
  await sql('update event_store.events set type = $1 where stream = $2 and revision = 0', ['PaymentFailed', stream])
  t.match(await prove(newPath()), { code: 3, stderr: /PaymentFailed.* is not the event that the tree has/ })
})

t.test('an event that no checkpoint covers yet is waited for, and then named', async (t) => {
  await append(stream, { type: 'PaymentRefunded' })
  t.match(await prove(newPath()), {
    code: 1,
    stderr: /^The tree does not have the newest event of this payment yet: the newest one /,
  })
  await harness.grow()
  t.match(await prove(newPath()), {
    code: 1,
    stderr: /^No checkpoint covers the newest event .* covers the first 304 events/,
  })
  const path = newPath()
  const waiting = run('prove', 'payment', payment, '--out', path, '--wait', '20s')
  await sign()
  t.match(await waiting, { code: 0, stdout: /3 events, proven by the checkpoint/ })
  t.match(await run('prove', 'payment', randomUUID()), { code: 1, stderr: /^There is no payment/ })
})

const exportTo = async (path: string, ...flags: readonly string[]) => {
  const exported = await runOps(['streams', 'export', '--out', path, ...flags], environment)
  t.equal(exported.code, 0, exported.stderr)
  return exported.stdout
}
const verifyExport = (path: string, ...flags: readonly string[]) =>
  runOps(['streams', 'verify-export', path, ...flags], environment)

/** The fields of a manifest that follow from the file. */
function sumsOf(path: string) {
  const content = readFileSync(path)
  return { bytes: content.length, sha256: createHash('sha256').update(content).digest('hex') }
}

t.test('an export of the whole log proves itself with nothing but the key', async (t) => {
  const path = newPath()
  t.match(
    await exportTo(path, '--until', '30m'),
    /The checkpoint of paylog\.test\/log over the first 304 events of the log covers it\./,
  )
  t.match(await verifyExport(path), {
    code: 0,
    stdout: /It proves itself: its lines are those that the checkpoint of /,
  })
  t.match(await offline('streams', 'verify-export', path, '--offline'), { code: 0, stdout: /the log was not read\.\n/ })

  const lines = linesOf(path)
  const forged = lines.with(200, (lines[200] ?? '').replace('"number":', '"numbeR":'))
  writeLines(path, forged)
  const manifest = readManifestOf(path)
  const check = () => offline('streams', 'verify-export', path, '--offline')
  t.match(await check(), {
    code: 3,
    stdout: /sha256: .*checkpoint: its first 304 events are not those that paylog\.test/s,
  })
  writeFileSync(manifestOf(path), JSON.stringify({ ...manifest, ...sumsOf(path) }))
  t.match(await check(), { code: 3, stdout: /^checkpoint: its first 304 events are not those/ })
  writeLines(path, lines.with(200, '{}'))
  t.match(await check(), { code: 3, stdout: /checkpoint: line 201 is not an event of an export/ })
})

t.test('an export that ends before or after its checkpoint says which of its lines prove themselves', async (t) => {
  await sql(
    'update event_store.events set created_ticks = created_ticks + $1 where position = (select max(position) from event_store.events)',
    ['18000000000'],
  )
  const before = newPath()
  await exportTo(before, '--until', '45m')
  t.match(readManifestOf(before), { count: 303, checkpoint: { consistency: { length: 7 } } })
  t.match(await verifyExport(before), { code: 0, stdout: /It proves itself/ })
  const manifest = readManifestOf(before)
  const consistency = [...(manifest.checkpoint?.consistency ?? [])].reverse()
  writeFileSync(
    manifestOf(before),
    JSON.stringify({ ...manifest, checkpoint: { ...manifest.checkpoint, consistency } }),
  )
  t.match(await verifyExport(before), {
    code: 3,
    stdout:
      /checkpoint: its events are not the first ones that paylog\.test.*\nThe file matches its manifest and the log: all /,
  })

  const after = newPath()
  t.match(await exportTo(after), /covers its first 304 events\. The last 1 are not covered by a checkpoint yet\./)
  t.match(await verifyExport(after), {
    code: 0,
    stdout: /Its first 304 events prove themselves: .*; no checkpoint covers its last 1 events\./,
  })
})

t.test('an export with filters names its checkpoint, and does not prove itself', async (t) => {
  const path = newPath()
  await exportTo(path, '--category', 'payment')
  t.match(readManifestOf(path).checkpoint, { note: /^paylog\.test\/log\n304\n/, consistency: null })
  t.match(await verifyExport(path), {
    code: 0,
    stdout: /Its signature is right: .* It does not prove itself: it has only some of the events/,
  })
  t.match(await offline('streams', 'verify-export', path, '--offline'), {
    code: 1,
    stderr: /does not prove itself: it has only/,
  })
  const manifest = readManifestOf(path)
  const note = manifest.checkpoint?.note.replace('\n304\n', '\n305\n')
  writeFileSync(manifestOf(path), JSON.stringify({ ...manifest, checkpoint: { ...manifest.checkpoint, note } }))
  t.match(await verifyExport(path), { code: 3, stdout: /checkpoint: The signature of paylog\.test\/log is wrong/ })
})

t.test('checkpoints in proofs and manifests serve audit verify', async (t) => {
  const [proof, path] = [join(directory, 'witness.json'), newPath()]
  await prove(proof)
  await exportTo(path)
  t.match(await harness.verify('--against', proof, '--against', manifestOf(path)), {
    code: 0,
    verdict: { checkpoints: 4 },
  })
})

t.test('audit key prints the verifier key, and makes pairs', async (t) => {
  t.match(await run('key'), { code: 0, stdout: `${verifierKey}\n` })
  const pair = JSON.parse((await run('key', '--new', 'pay.example.com', '--json')).stdout)
  const printed = await runOps(['audit', 'key'], { AUDIT_SIGNING_KEY: pair.signing_key, DATA_DIR: directory })
  t.equal(printed.stdout, `${pair.verifier_key}\n`)
  t.match(await runOps(['audit', 'key'], { DATA_DIR: directory }), {
    code: 1,
    stderr: /^Neither AUDIT_VERIFIER_KEY nor/,
  })
  const verifying = { AUDIT_VERIFIER_KEY: pair.verifier_key, DATA_DIR: directory }
  t.equal((await runOps(['audit', 'key'], verifying)).stdout, printed.stdout)
  t.match(await run('key', '--new', 'with space'), {
    code: 2,
    stderr: /^--new: The name of a key is a text without spaces/,
  })
})
