// Imports that are killed or interrupted half way through.
import t from 'tap'
import { assertCompletes, startHalfwayImport } from '../testing/importHarness.ts'

t.test('an import that is killed half way is repeated, and nothing is there twice', async (t) => {
  const rig = await startHalfwayImport(t, 5_000)
  rig.running.signal('SIGKILL')
  t.match(await rig.running.ended, { code: null })
  const { size } = rig
  const there = (await rig.additions()).size
  t.ok(there >= size / 2 && there < size, `${there} products were there`)
  await assertCompletes(t, rig)
})

t.test('whoever interrupts it waits for what is under way, and is told where it stands', async (t) => {
  const rig = await startHalfwayImport(t, 5_000)
  const { size } = rig
  rig.running.signal('SIGINT')
  const { code, stdout, stderr } = await rig.running.ended
  t.equal(code, 1)
  const last = Number(/Interrupted\. Every line up to (\d+) is dealt with\./.exec(stderr)?.[1])
  t.ok(last > size / 2 && last < size, `line ${last} was the last one`)
  t.match(stdout, `\n${last} lines: ${last - 1} added, 0 changed, 0 unchanged, 1 rejected.\n`)
  t.equal((await rig.additions()).size, last - 1, 'nothing is there that was not told')
  await assertCompletes(t, rig)
})
