// Random appends, deletes, metadata changes, reads and subscriptions have the same results on a server and in the model.
import fc from 'fast-check'
import t from 'tap'
import { conformanceTarget } from '../target.ts'
import { commands } from './commands.ts'
import { createModelRun, finish } from './modelRun.ts'
import { openSession } from './session.ts'

/** `MODEL_SEED` repeats the runs of a failed test. */
const seed = Number(process.env.MODEL_SEED ?? Date.now() % 2 ** 31)
/** `MODEL_RUNS` sets the number of runs and removes the time limit. */
const wantedRuns = process.env.MODEL_RUNS
const numRuns = Number(wantedRuns ?? 24)
const timeLimitMs = wantedRuns === undefined ? 15_000 : Number.POSITIVE_INFINITY
const maxCommands = 100

t.test(`random steps have the same results on a server and in the model, MODEL_SEED=${seed}`, async (t) => {
  const target = await conformanceTarget(t)
  const until = performance.now() + timeLimitMs
  let [runs, steps, hasFailed] = [0, 0, false]
  const property = fc.asyncProperty(fc.commands(commands, { maxCommands, size: 'max' }), async (chosen) => {
    // After a failure, shrinking ignores the time limit.
    if (performance.now() > until && !hasFailed) return
    const modelRun = createModelRun()
    const session = await openSession(target)
    try {
      await fc.asyncModelRun(() => ({ model: modelRun, real: session }), chosen)
      await finish(modelRun, session)
    } catch (error) {
      hasFailed = true
      throw new Error(`after\n  ${modelRun.steps.join('\n  ')}\n${String(error)}`, { cause: error })
    } finally {
      runs += 1
      steps += modelRun.steps.length
      for (const { server } of modelRun.subscriptions) server.cancel()
      session.batch.close()
    }
  })
  const details = await fc.check(property, { seed, numRuns })
  t.comment(`${steps} steps in ${runs} runs`)
  if (details.failed) t.comment(`shrunk ${details.numShrinks} times: ${String(details.errorInstance)}`)
  t.notOk(details.failed, `MODEL_SEED=${seed} MODEL_RUNS=${numRuns} repeats the failure`)
  t.not(steps, 0, 'number of steps')
})
