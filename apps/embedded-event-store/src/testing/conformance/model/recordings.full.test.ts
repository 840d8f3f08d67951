// The model itself, held against what EventStoreDB answered.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { scenariosOf } from '../player/scenario.ts'
import { playThroughModel } from './recorded/play.ts'

/** A delete of a stream whose name is not ASCII, refused without the trailers that say why. */
const stepsLeftOut = 1

t.test('the model has the recorded result of EventStoreDB for every step', async (t) => {
  let compared = 0
  let leftOut = 0
  for (const { name, steps, answers } of [...scenariosOf('named'), ...scenariosOf('random')]) {
    for (const [index, answer] of playThroughModel({ name, steps, answers }).entries()) {
      if (answer === undefined) leftOut += 1
      else compared += 1
      if (answer === undefined || isDeepStrictEqual(answer, answers[index])) continue
      t.strictSame(answer, answers[index], `${name}, step ${index}: ${JSON.stringify(steps[index])}`)
    }
  }
  t.comment(`${compared} answers compared`)
  t.ok(compared > 6_000, 'number of compared steps')
  t.equal(leftOut, stepsLeftOut, 'number of steps that the model does not cover')
})
