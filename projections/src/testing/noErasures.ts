// The source of a log in which nobody is erased.
import type { ErasureSource } from '../apply/erasing.ts'

export const noErasures: ErasureSource = {
  destroyKeys: () => Promise.reject(new Error('Nobody should be erased')),
  readStream: () => Promise.reject(new Error('No stream should be read')),
}
