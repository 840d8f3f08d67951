// Imports whose event store is down from the start, or fails half way.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { assertCompletes, importHarness, someLine, startHalfwayImport } from '../testing/importHarness.ts'

t.test('an event store that fails stops the import, and a repetition completes it', async (t) => {
  const harness = await startHalfwayImport(t, 1_500)
  const { size } = harness
  await harness.log.kill()
  const { code, stdout, stderr } = await harness.running.ended
  t.equal(code, 1)
  const report = /\nThe event store .*\. Every line up to (\d+) is done\. Import the file again: .*\n$/.exec(stderr)
  const last = Number(report?.[1])
  t.ok(last > size / 2 && last < size, `line ${last} was the last one`)
  t.match(stdout, `\n${last} lines: ${last - 1} added, 0 changed, 0 unchanged, 1 rejected.\n`)
  await harness.log.start()
  const names = new Set((await harness.events()).map(({ data }) => 'name' in data && data.name))
  const lines = readFileSync(harness.path, 'utf8').split('\n').slice(0, last)
  t.ok(
    lines.filter((line) => line !== '{').every((line) => names.has(JSON.parse(line).name)),
    'the reported lines are imported',
  )
  await assertCompletes(t, harness)
})

t.test('products import without an event store fails before the first line', async (t) => {
  const harness = await importHarness(t)
  await harness.log.kill()
  t.same(await harness.run([someLine()]), {
    code: 1,
    stdout: '',
    stderr: 'The event store cannot be read at the moment (event_store_unavailable)\n',
  })
})
