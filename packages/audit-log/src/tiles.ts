// Tiles: 256 hashes of one level of the tree side by side (c2sp.org/tlog-tiles), which is how the tree is stored.
import { completeHash, type HashReader, hashBytes, type TreeNode } from './tree.ts'

/** The stored tree lacks hashes that it must have. */
export class IncompleteTreeError extends Error {
  override readonly name = 'IncompleteTreeError'
}

/** A tile has the hashes of 256 nodes; those of the next level are the roots of full tiles. */
const tileHeight = 8
export const tileWidth = 2 ** tileHeight

export type TilePlace = { readonly level: number; readonly index: number }

export type Tile = TilePlace & {
  readonly hashes: readonly Buffer[]
  /** At level 0: the leaves' positions in the log. */
  readonly positions: readonly bigint[]
}

type OpenTile = TilePlace & { readonly hashes: Buffer[]; readonly positions: bigint[] }

/** Cuts the bytes of a tile into hashes. */
export const hashesIn = (bytes: Buffer): Buffer[] =>
  Array.from({ length: bytes.length / hashBytes }, (_, n) => bytes.subarray(n * hashBytes, (n + 1) * hashBytes))

/** The tiles that are not full in a tree of this size: with how many hashes of each level it continues. */
export function openTilesOf(size: number): readonly (TilePlace & { readonly count: number })[] {
  const tiles: (TilePlace & { count: number })[] = []
  for (let [level, hashes] = [0, size]; hashes > 0; level++, hashes = Math.floor(hashes / tileWidth))
    tiles.push({ level, index: Math.floor(hashes / tileWidth), count: hashes % tileWidth })
  return tiles
}

/** Appends leaves to the tiles of a tree. @param open the tiles that are not full, by level */
export function createTiles(open: readonly Tile[]): {
  append(leafHash: Buffer, position: bigint): void
  /** The tiles that changed since the last call. */
  takeChanged(): readonly Tile[]
} {
  const tails = open.map((tile): OpenTile => ({ ...tile, hashes: [...tile.hashes], positions: [...tile.positions] }))
  let changed = new Set<Tile>()
  function push(level: number, hash: Buffer): OpenTile {
    const tile = tails[level] ?? { level, index: 0, hashes: [], positions: [] }
    tails[level] = tile
    tile.hashes.push(hash)
    changed.add(tile)
    if (tile.hashes.length === tileWidth) {
      tails[level] = { level, index: tile.index + 1, hashes: [], positions: [] }
      push(level + 1, completeHash(tile.hashes))
    }
    return tile
  }
  return {
    append(leafHash, position) {
      push(0, leafHash).positions.push(position)
    },
    takeChanged() {
      const taken = [...changed]
      changed = new Set()
      return taken
    },
  }
}

/** Reads nodes from tiles. @param readTiles returns the hashes of each tile, in the same order */
export function tileReader(readTiles: (places: readonly TilePlace[]) => Promise<readonly Buffer[]>): HashReader {
  return async (nodes) => {
    const wanted = nodes.map(placeOf)
    const places = new Map(wanted.map(({ tile }) => [keyOf(tile), tile]))
    const read = await readTiles([...places.values()])
    const tiles = new Map([...places.keys()].map((key, n) => [key, read[n]]))
    return wanted.map(({ tile, first, count }) => {
      const bytes = tiles.get(keyOf(tile))?.subarray(first * hashBytes, (first + count) * hashBytes)
      if (bytes?.length !== count * hashBytes)
        throw new IncompleteTreeError(
          `The stored tree has no hashes ${first} to ${first + count - 1} in tile ${keyOf(tile)}`,
        )
      return completeHash(hashesIn(bytes))
    })
  }
}

const keyOf = ({ level, index }: TilePlace) => `${level}/${index}`

/** The hashes of a tile that make up a node. */
function placeOf({ level, index }: TreeNode): {
  readonly tile: TilePlace
  readonly first: number
  readonly count: number
} {
  const tileLevel = Math.floor(level / tileHeight)
  const count = 2 ** (level % tileHeight)
  const tileIndex = Math.floor((index * count) / tileWidth)
  return { tile: { level: tileLevel, index: tileIndex }, first: (index * count) % tileWidth, count }
}
