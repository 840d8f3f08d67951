// Compares the model with the recorded responses of EventStoreDB.
import { isDeepStrictEqual } from 'node:util'
import t from 'tap'
import { scenariosOf } from '../player/scenario.ts'
import { playThroughModel } from './recorded/play.ts'

/** A delete of a stream whose name is not ASCII, rejected without trailers. */
const stepsLeftOut = 1

t.test('the model has the recorded result of EventStoreDB for every step', async (t) => {
  let compared = 0
  let leftOut = 0
  for (const { name, steps, answers } of [...scenariosOf('named'), ...scenariosOf('random')]) {
    for (const [index, response] of playThroughModel({ name, steps, answers }).entries()) {
      if (response === undefined) leftOut += 1
      else compared += 1
      if (response === undefined || isDeepStrictEqual(response, answers[index])) continue
      t.strictSame(response, answers[index], `${name}, step ${index}: ${JSON.stringify(steps[index])}`)
    }
  }
  t.comment(`${compared} responses compared`)
  t.ok(compared > 6_000, 'number of compared steps')
  t.equal(leftOut, stepsLeftOut, 'number of steps that the model does not cover')
})
