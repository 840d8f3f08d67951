// GET /addresses and GET /addresses/{id} (interface, sections 2.5 and 4).
import { exampleAddress } from '@paylog/domain/examples'
import type { FastifyPluginAsync } from 'fastify'
import { getOne } from '../lists/listRoutes.ts'
import { listOwn } from '../lists/ownLists.ts'
import { ItemQuery, type QueryDependencies, readSchema } from '../routeSchemas.ts'
import { addressList } from './queries.ts'

const common = { list: addressList, reads: ['addresses', 'defaults'], example: exampleAddress } as const

export const addressRoutes =
  (dependencies: QueryDependencies): FastifyPluginAsync =>
  async (http) => {
    listOwn(http, dependencies, {
      ...common,
      path: '/addresses',
      schema: readSchema('addresses', 'listAddresses', 'List the addresses of the caller', 'forbidden'),
    })
    getOne(http, dependencies, {
      ...common,
      path: '/addresses/:id',
      name: 'address',
      config: { callers: 'sessionOrGuest' },
      querystring: ItemQuery,
      schema: readSchema('addresses', 'getAddress', 'Get one address of the caller', 'not_found'),
    })
  }
