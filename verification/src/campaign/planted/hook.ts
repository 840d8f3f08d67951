// Plants faults into the process that loads this module first, with `node --import`. CAMPAIGN_PLANTS names them, one a line.
import { readFileSync } from 'node:fs'
import { registerHooks } from 'node:module'
import { plantsNamed, withPlant } from './plants.ts'

const planted = plantsNamed((process.env.CAMPAIGN_PLANTS ?? '').split('\n'))
const root = new URL('../../../../', import.meta.url)

registerHooks({
  load(url, context, nextLoad) {
    const here = planted.filter(({ file }) => new URL(file, root).href === url)
    if (here.length === 0) return nextLoad(url, context)
    const source = here.reduce((text, plant) => withPlant(plant, text), readFileSync(new URL(url), 'utf8'))
    return { format: 'module-typescript', source, shortCircuit: true }
  },
})
