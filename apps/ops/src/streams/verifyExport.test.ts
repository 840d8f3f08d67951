import { readFileSync, truncateSync, writeFileSync } from 'node:fs'
import { matchList } from '@paylog/testing/assertions'
import t from 'tap'
import { editManifest, readManifestOf, sampleExportHarness } from '../testing/exportHarness.ts'
import { runOps } from '../testing/runOps.ts'

const harness = await sampleExportHarness(t)
const { append, exportTo, newPath, verify, environment, original, lines, changed, replaced, eventDifferences, nameOf } =
  harness

t.test('verify-export accepts an unchanged export with any filters, also after the log has grown', async (t) => {
  const filters = [
    [],
    ['--category', 'payment'],
    ['--stream', 'payment-3', '--type', 'Noted'],
    ['--since', '2h'],
    ['--until', '30m'],
  ]
  const paths = await Promise.all(
    filters.map(async (flags) => {
      const path = newPath()
      await exportTo(path, ...flags)
      return path
    }),
  )
  await append('payment-3', { type: 'Noted' })
  for (const path of [original, ...paths]) t.match(await verify(path), { code: 0, count: 0, differences: [] }, path)
  const ended = await runOps(['streams', 'verify-export', original], environment)
  t.match(ended, {
    code: 0,
    stdout: /matches its manifest and the log: 26 events, positions \d+ to \d+;/,
    stderr: /^Comparing: 100 %, 26 events.*\n$/,
  })
})

t.test('verify-export finds one changed byte anywhere in a line and names the event', async (t) => {
  const { found, code } = await eventDifferences(replaced(4, 'some text', 'some tekt'))
  const field = { field: 'data.text', log: '"some text"', file: '"some tekt"' }
  t.same([code, found], [3, [{ kind: 'changed', line: 5, event: nameOf(4), fields: [field] }]])
  const line = Buffer.from(lines[4] ?? '')
  for (let at = 0; at < line.length; at += 17) {
    const broken = Buffer.from(line)
    broken[at] = (broken[at] ?? 0) ^ 1
    const path = changed((all) => all)
    const before = Buffer.from(
      lines
        .slice(0, 4)
        .map((each) => `${each}\n`)
        .join(''),
    )
    writeFileSync(path, Buffer.concat([before, broken, readFileSync(path).subarray(before.length + line.length)]))
    const { found } = await eventDifferences(path)
    t.ok(found.length >= 1, `byte ${at}`)
    t.ok(
      found.every((difference) => ('line' in difference ? difference.line === 5 : 'event' in difference)),
      `byte ${at}: no other difference is reported`,
    )
  }
})

t.test('verify-export finds a change of every field, also of numbers beyond JavaScript precision', async (t) => {
  const fieldsOf = async (path: string) => {
    const { found } = await eventDifferences(path)
    return found.map((each) =>
      each.kind === 'changed' ? [each.line, ...each.fields.map(({ field }) => field)] : each.kind,
    )
  }
  t.same(await fieldsOf(replaced(2, '"revision":"0"', '"revision":"7"')), [[3, 'revision']])
  t.same(await fieldsOf(replaced(2, '"type":"Counted"', '"type":"Other"')), [[3, 'type']])
  t.same(await fieldsOf(replaced(2, /"created":"\d{4}/, '"created":"1999')), [[3, 'created']])
  t.same(await fieldsOf(replaced(2, /"id":"[^"]*"/, '"id":"c2d1a3de-8f2b-4c5f-9a43-6a1f0e2f7d11"')), [[3, 'id']])
  t.same(await fieldsOf(replaced(2, /"position":"\d+"/, '"position":"999999"')), [[3, 'position']])
  t.same(await fieldsOf(replaced(2, /"position":"\d+"/, '"position":"1"')), [[3, 'position']])
  t.same(await fieldsOf(replaced(2, '"metadata":{}', '"metadata":{"actor":"me"}')), [[3, 'metadata.actor']])
  t.same(await fieldsOf(replaced(2, '12345678901234567890', '12345678901234567891')), [[3, 'line']])
  t.same(await fieldsOf(replaced(2, '"data":{', '"data":{ ')), [[3, 'line']])
  t.same(await fieldsOf(replaced(2, /$/, '\r')), [[3, 'line']])
  t.same(await fieldsOf(replaced(24, '"data_base64":"AP8="', '"data_base64":"AP4="')), [[25, 'data_base64']])
})

t.test('verify-export distinguishes missing, moved, repeated and invented lines', async (t) => {
  const kinds = async (path: string) =>
    (await eventDifferences(path)).found.map((each) => ('line' in each ? `${each.kind} ${each.line}` : each.kind))
  const without = await eventDifferences(changed((all) => all.toSpliced(5, 1)))
  t.same(without.found, [{ kind: 'missing', event: nameOf(5) }])
  t.same(await kinds(changed((all) => [...all.slice(0, 4), all[5] ?? '', all[4] ?? '', ...all.slice(6)])), [
    'out_of_order 5',
  ])
  const twice = await eventDifferences(changed((all) => all.toSpliced(7, 0, all[2] ?? '')))
  matchList(t, twice.found, [{ kind: 'extra', line: 8, event: nameOf(2), reason: 'is in the file more than once' }])
  const madeUp = (lines[6] ?? '').replace(/"id":"[^"]*"/, '"id":"c2d1a3de-8f2b-4c5f-9a43-6a1f0e2f7d11"')
  const extra = await eventDifferences(
    changed((all) => all.toSpliced(7, 0, madeUp.replace(/"position":"\d+"/, '"position":"1"'))),
  )
  matchList(t, extra.found, [{ kind: 'extra', line: 8, reason: 'is not in the log' }])
  const noise = await eventDifferences(changed((all) => all.toSpliced(7, 0, 'noise', '')))
  matchList(t, noise.found, [
    { kind: 'extra', line: 8, event: null, reason: 'is not an event' },
    { kind: 'extra', line: 9, event: null },
  ])
})

t.test('verify-export of a truncated file reports the differing count and checksum', async (t) => {
  const path = changed((all) => all)
  const { bytes } = readManifestOf(path)
  truncateSync(path, bytes - (lines.at(-1)?.length ?? 0) - 2)
  const cut = await verify(path)
  t.equal(cut.code, 3)
  const manifest = cut.differences.flatMap((each) => (each.kind === 'manifest' ? [each.field] : []))
  t.same(manifest, ['count', 'last_position', 'bytes', 'sha256'])
  const events = cut.differences.filter(({ kind }) => kind !== 'manifest')
  matchList(t, events, [
    { kind: 'changed', line: 25, fields: [{ field: 'line', file: 'does not end with a single line feed' }] },
    { kind: 'missing', event: nameOf(25) },
  ])
  truncateSync(path, bytes / 2)
  t.ok((await verify(path)).differences.some(({ kind }) => kind === 'missing'))
  truncateSync(path, 0)
  t.match(await verify(path), { code: 3, count: 31 })
})

t.test('verify-export finds an edited manifest', async (t) => {
  const edited = async (change: Parameters<typeof editManifest>[1]) => {
    const path = changed((all) => all)
    editManifest(path, change)
    return await verify(path)
  }
  const differingFields = async (change: Parameters<typeof editManifest>[1]) =>
    (await edited(change)).differences.map((each) => (each.kind === 'manifest' ? each.field : each.kind))
  t.same(await differingFields({ bytes: 1 }), ['bytes'])
  t.same(await differingFields({ count: 25 }), ['count'])
  t.same(await differingFields({ sha256: '0'.repeat(64) }), ['sha256'])
  t.same(await differingFields({ first_position: '1' }), ['first_position'])
  t.same(await differingFields({ last_position: null }), ['last_position'])
  const { head, filters } = readManifestOf(original)
  t.same(await differingFields({ head: nameOf(24).position }), ['extra'])
  t.match((await edited({ head: nameOf(24).position })).differences, [{ reason: /^is after the part of the log/ }])
  const beyond = await differingFields({ head: String(BigInt(head ?? 0) + 1_000n) })
  t.same([...new Set(beyond)], ['other_log', 'missing'])
  matchList(t, (await edited({ head: null })).differences, [
    { kind: 'nothing_covered', end: /^\d+$/ },
    ...lines.map(() => ({ kind: 'extra' })),
  ])
  const [since, until] = ['2026-11-02T00:00:00.000Z', '2026-11-01T00:00:00.000Z']
  for (const times of [
    { since, until },
    { since, until: since },
  ])
    t.match(await edited({ filters: { ...filters, ...times } }), { code: 1, message: /since is not before/ })
  const category = await edited({ filters: { ...filters, category: 'payment' } })
  matchList(t, category.differences, [
    { kind: 'extra', line: 25, reason: /^does not match the filters/ },
    { kind: 'extra', line: 26 },
  ])
})
