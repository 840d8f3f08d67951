import { readFile } from 'node:fs/promises'
import { stripTypeScriptTypes } from 'node:module'
import t from 'tap'
import { plants, withPlant } from './plants.ts'

const root = new URL('../../../../', import.meta.url)

t.test('each planted fault has its place in the product, and leaves a module that can be parsed', async (t) => {
  for (const plant of plants) {
    const source = await readFile(new URL(plant.file, root), 'utf8')
    t.not(withPlant(plant, source), source, plant.name)
    t.doesNotThrow(() => stripTypeScriptTypes(withPlant(plant, source)), plant.name)
  }
})

t.test('the names of planted faults are unique, and a text that does not occur once is an error', async (t) => {
  t.equal(new Set(plants.map(({ name }) => name)).size, plants.length)
  const [plant] = plants
  if (plant === undefined) throw new Error('there are no plants')
  t.throws(() => withPlant(plant, 'something else'), /0 times/)
  t.throws(() => withPlant(plant, plant.text.repeat(2)), /2 times/)
})
