// Imports that are killed or interrupted half way.
import t from 'tap'
import { assertCompletes, startHalfwayImport } from '../testing/importHarness.ts'

t.test('an import that is killed and repeated creates each product once', async (t) => {
  const harness = await startHalfwayImport(t, 1_500)
  harness.running.signal('SIGKILL')
  t.match(await harness.running.ended, { code: null })
  const { size } = harness
  const there = (await harness.additions()).size
  t.ok(there >= size / 2 && there < size, `${there} products were there`)
  await assertCompletes(t, harness)
})

t.test('an interrupted import finishes the lines under way and reports the last one', async (t) => {
  const harness = await startHalfwayImport(t, 1_500)
  const { size } = harness
  harness.running.signal('SIGINT')
  const { code, stdout, stderr } = await harness.running.ended
  t.equal(code, 1)
  const last = Number(/Interrupted\. Every line up to (\d+) is done\./.exec(stderr)?.[1])
  t.ok(last > size / 2 && last < size, `line ${last} was the last one`)
  t.match(stdout, `\n${last} lines: ${last - 1} added, 0 changed, 0 unchanged, 1 rejected.\n`)
  t.equal((await harness.additions()).size, last - 1, 'no product beyond the reported line was created')
  await assertCompletes(t, harness)
})
