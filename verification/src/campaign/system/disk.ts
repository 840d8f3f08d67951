// The disk of Postgres, which can be filled.
import { execFile } from 'node:child_process'
import { rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { canMountDisk, createDisk } from '@paylog/testing/diskImage'

const run = promisify(execFile)
const diskBytes = 16 * 2 ** 30

export type FillableDisk = {
  readonly directory: string
  /** Uses up all free space, until `free`. */
  fill(): Promise<void>
  free(): Promise<void>
}

/** @param stack unmounts it @returns undefined where no disk can be mounted */
export async function mountFillableDisk(stack: AsyncDisposableStack): Promise<FillableDisk | undefined> {
  if (!canMountDisk) return undefined
  // Root of a container may lack the right.
  const disk = await createDisk(diskBytes).catch(() => undefined)
  if (disk === undefined) return undefined
  const { directory } = stack.use(disk)
  // Two: the first leaves the rounding, and what its own blocks need.
  const fillings = ['filling-1', 'filling-2'].map((name) => join(directory, name))
  return {
    directory,
    async fill() {
      for (const file of fillings) {
        const { bfree, bsize } = await statfs(directory)
        if (bfree > 0) await run('fallocate', ['-l', String(bfree * bsize), file]).catch(() => {})
      }
    },
    async free() {
      for (const file of fillings) await rm(file, { force: true })
    },
  }
}
