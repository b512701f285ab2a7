export {
  hashTarget,
  interceptLinks,
  navigate,
  queryParam,
  route,
  routeParam,
  setQueryParams,
  toHref,
} from "./router.ts";
export { matchRoute, type RouteName } from "./match-route.ts";
