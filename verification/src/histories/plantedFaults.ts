// Faults planted into the product, to show that the simulation finds them.
import { registerHooks } from 'node:module'
import type { PlantedFault } from './job.ts'

/** Replaces the texts in files that are loaded from now on. @throws when a text is not there */
export function plant(faults: readonly PlantedFault[]): void {
  registerHooks({
    load(url, context, nextLoad) {
      const loaded = nextLoad(url, context)
      const own = faults.filter(({ file }) => url.endsWith(file))
      if (own.length === 0 || loaded.source === undefined || loaded.source === null) return loaded
      let source = loaded.source.toString()
      for (const { file, text, replacement } of own) {
        if (!source.includes(text)) throw new Error(`${file} has no ${text}`)
        source = source.replace(text, replacement)
      }
      return { ...loaded, source }
    },
  })
}
