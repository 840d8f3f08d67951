// Imports whose store is down, from the start or half way through.
import { readFileSync } from 'node:fs'
import t from 'tap'
import { assertCompletes, importHarness, someLine, startHalfwayImport } from '../testing/importHarness.ts'

t.test('a store that goes away stops it, and a repetition completes it', async (t) => {
  const rig = await startHalfwayImport(t, 5_000)
  const { size } = rig
  await rig.log.kill()
  const { code, stdout, stderr } = await rig.running.ended
  t.equal(code, 1)
  const told = /\nThe event store .*\. Every line up to (\d+) is dealt with\. Import the file again: .*\n$/.exec(stderr)
  const last = Number(told?.[1])
  t.ok(last > size / 2 && last < size, `line ${last} was the last one`)
  t.match(stdout, `\n${last} lines: ${last - 1} added, 0 changed, 0 unchanged, 1 rejected.\n`)
  await rig.log.start()
  const names = new Set((await rig.events()).map(({ data }) => 'name' in data && data.name))
  const lines = readFileSync(rig.path, 'utf8').split('\n').slice(0, last)
  t.ok(
    lines.filter((line) => line !== '{').every((line) => names.has(JSON.parse(line).name)),
    'what was told is there',
  )
  await assertCompletes(t, rig)
})

t.test('without a store it is not begun', async (t) => {
  const rig = await importHarness(t)
  await rig.log.kill()
  t.same(await rig.run([someLine()]), { code: 1, stdout: '', stderr: 'The event store cannot be read at the moment\n' })
})
